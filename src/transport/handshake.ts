import type { IncomingMessage } from "node:http";

export interface HandshakeRules {
  /** Host names (without port) by which the broker may be called. */
  hosts: ReadonlySet<string>;
  /** Origins that a browser may come from. */
  origins: ReadonlySet<string>;
  /** Path of the WebSocket. */
  path: string;
  subprotocols: readonly string[];
}

/** A request that is refused before anything is upgraded: an HTTP status and one plain sentence. */
export interface Rejection {
  status: 400 | 401 | 403 | 404 | 405 | 426 | 503;
  sentence: string;
}

export interface Handshake {
  subprotocol: string;
  /** The token of the Authorization header, not verified yet. */
  token?: string;
}

/**
 * Judges an upgrade by its raw headers: neither Node's own Host check nor ws looks at these. A browser page of another
 * site sends an Origin, a rebound name another Host: both are refused here (THREAT-MODEL.md).
 */
export function judgeUpgrade(request: IncomingMessage, rules: HandshakeRules): Handshake | Rejection {
  const headers = headerLists(request.rawHeaders);
  const refused = judgeHost(headers, rules.hosts) ?? judgeOrigin(headers, rules.origins);
  if (refused !== undefined) return refused;
  if (request.method !== "GET" || request.httpVersion !== "1.1")
    return no(405, "open the WebSocket with GET and HTTP/1.1");
  if (request.url !== rules.path) return no(404, `the WebSocket is at ${rules.path}`);
  if (headers.has("content-length") || headers.has("transfer-encoding")) return no(400, "an upgrade carries no body");
  const subprotocol = selectSubprotocol(offered(headers), rules.subprotocols);
  if (subprotocol === undefined) return no(426, `offer the WebSocket subprotocol ${rules.subprotocols.join(" or ")}`);
  const authorization = headers.get("authorization");
  if (authorization === undefined) return { subprotocol };
  const token = authorization.length === 1 ? /^Bearer ([!-~]+)$/i.exec(authorization[0] ?? "")?.[1] : undefined;
  return token === undefined ? no(401, "the Authorization header must be: Bearer TOKEN") : { subprotocol, token };
}

/** The first that the client offers of those that are served: its order is its preference. */
export function selectSubprotocol(names: Iterable<string>, served: readonly string[]): string | undefined {
  return [...names].find((name) => served.includes(name));
}

/** Refuses a request that does not call the broker by exactly one of its names. */
export function judgeHost(
  headers: ReadonlyMap<string, readonly string[]>,
  hosts: ReadonlySet<string>,
): Rejection | undefined {
  const host = headers.get("host");
  if (host?.length !== 1) return no(400, "send exactly one Host header");
  const name = (host[0] ?? "").toLowerCase().replace(/:\d{1,5}$/, "");
  return hosts.has(name) ? undefined : no(403, "this broker does not answer to that Host; see --allow-host");
}

function judgeOrigin(
  headers: ReadonlyMap<string, readonly string[]>,
  origins: ReadonlySet<string>,
): Rejection | undefined {
  const origin = headers.get("origin");
  if (origin === undefined) return undefined;
  const allowed = origin.length === 1 && origin[0] !== "null" && origins.has(origin[0] ?? "");
  return allowed ? undefined : no(403, "this Origin may not connect; see --allow-origin");
}

/** Every value of each header, names in lower case: Node's own object joins or drops repeated ones. */
export function headerLists(raw: readonly string[]): Map<string, string[]> {
  const lists = new Map<string, string[]>();
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    const value = raw[at + 1] ?? "";
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [value]);
    else list.push(value);
  }
  return lists;
}

function offered(headers: ReadonlyMap<string, readonly string[]>): string[] {
  return (headers.get("sec-websocket-protocol") ?? []).flatMap((line) => line.split(",").map((name) => name.trim()));
}

function no(status: Rejection["status"], sentence: string): Rejection {
  return { status, sentence };
}
