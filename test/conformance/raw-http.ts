import { connect } from "node:net";

/** Header lines in the order in which they are sent, repeated ones included. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

export interface RawResponse {
  status: number;
  contentType: string;
  body: string;
}

/** Sends one request as bytes and reads what comes until the broker ends it, or has switched protocols. */
export function exchange(url: string, requestLine: string, headers: HeaderLines, body = ""): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
    let text = "";
    socket.on("connect", () => socket.write(`${requestLine}\r\n${lines}\r\n${body}`));
    socket.on("data", (chunk) => {
      text += chunk.toString("utf8");
      if (text.startsWith("HTTP/1.1 101 ") && text.includes("\r\n\r\n")) socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => {
      const [head = "", ...rest] = text.split("\r\n\r\n");
      const contentType = /^content-type: (.*)$/im.exec(head)?.[1]?.trim() ?? "";
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]), contentType, body: rest.join("\r\n\r\n") });
    });
  });
}
