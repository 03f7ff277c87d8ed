import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { provideTarget } from "./broker-process.js";
import type { Client } from "./client.js";
import { exchange, type HeaderLines, type RawResponse } from "./raw-http.js";
import type { Target } from "./runner.js";
import { Sessions } from "./sessions.js";

let target: Target;
let release: () => Promise<void> = () => Promise.resolve();
let host = "";
let token = "";
let bystander: Client;
const sessions = new Sessions();

const LINE = "GET /v1 HTTP/1.1";
const UNKNOWN = "a2t_AAAAAAAA_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

beforeAll(async () => {
  const provided = await provideTarget((broker) => ({ operator: broker.operatorToken() }));
  ({ target, release } = provided);
  host = new URL(target.url).host;
  token = target.tokens["operator"] ?? "";
  bystander = (await sessions.enter(target.url, token, { role: "orchestrator" })).client;
});

afterAll(async () => {
  sessions.drop();
  await release();
});

// Whatever one connection sends, another that is open goes on.
afterEach(() => bystander.barrier());

/** The headers of a good upgrade, without the ones named, and with others behind them. */
function headers(without: readonly string[], ...more: HeaderLines): HeaderLines {
  const good: HeaderLines = [
    ["Host", host],
    ["Connection", "Upgrade"],
    ["Upgrade", "websocket"],
    ["Sec-WebSocket-Version", "13"],
    ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
    ["Sec-WebSocket-Protocol", "a2achan.v1.json"],
    ["Authorization", `Bearer ${token}`],
  ];
  return [...good.filter(([name]) => !without.includes(name)), ...more];
}

function expectRefused(response: RawResponse, status: number): void {
  expect(response.status).toBe(status);
  expect(response.contentType).toMatch(/^text\/plain/);
  expect(response.body).toMatch(/^[^\n<>]{10,120}\n$/);
}

describe("an upgrade", () => {
  it("is taken with one Host, no Origin, the subprotocol and a token [A2C-FRM-01] [A2C-AUTH-01]", async () => {
    expect((await exchange(target.url, LINE, headers([]))).status).toBe(101);
  });

  it.each<[title: string, status: number, hosts: () => string[]]>([
    ["without a Host header", 400, () => []],
    ["with two Host headers", 400, () => [host, host]],
    ["with a second, foreign Host header", 400, () => [host, "evil.example"]],
    ["with a foreign Host", 403, () => ["evil.example"]],
    ["with a foreign Host that begins like its own", 403, () => ["127.0.0.1.evil.example"]],
    ["with a Host that hides another behind user information", 403, () => ["127.0.0.1:80@evil.example"]],
    ["with an empty Host", 403, () => [""]],
  ])("%s is refused with %i [A2C-FRM-04]", async (_title, status, hosts) => {
    const lines = hosts().map((value) => ["Host", value] as const);
    expectRefused(await exchange(target.url, LINE, headers(["Host"], ...lines)), status);
  });

  it.each<[title: string, origins: string[]]>([
    ["null", ["null"]],
    ["a foreign one", ["http://evil.example"]],
    ["an empty one", [""]],
    ["two of them", ["http://evil.example", "http://evil.example"]],
  ])("from an Origin that is %s is refused with 403 [A2C-FRM-05]", async (_title, origins) => {
    const lines = origins.map((value) => ["Origin", value] as const);
    expectRefused(await exchange(target.url, LINE, headers([], ...lines)), 403);
  });

  it("from the broker's own address as Origin is refused, since no page is served there that speaks to it [A2C-FRM-05]", async () => {
    expectRefused(await exchange(target.url, LINE, headers([], ["Origin", `http://${host}`])), 403);
  });

  it.each([
    ["by HTTP/1.0", "GET /v1 HTTP/1.0", 405],
    ["by POST", "POST /v1 HTTP/1.1", 405],
    ["by PUT", "PUT /v1 HTTP/1.1", 405],
    ["of another path", "GET /v2 HTTP/1.1", 404],
    ["of a longer path", "GET /v1/ HTTP/1.1", 404],
    ["of the path before it is normalised", "GET /x/../v1 HTTP/1.1", 404],
  ])("%s is refused", async (_title, line, status) => {
    expectRefused(await exchange(target.url, line, headers([])), status);
  });

  it.each<[title: string, line: [string, string], body: string]>([
    ["Content-Length 0", ["Content-Length", "0"], ""],
    ["Content-Length 5", ["Content-Length", "5"], "hello"],
    ["Transfer-Encoding", ["Transfer-Encoding", "chunked"], "0\r\n\r\n"],
  ])("with %s is refused, for it has no body", async (_title, line, body) => {
    expectRefused(await exchange(target.url, LINE, headers([], line), body), 400);
  });

  it.each([
    ["no subprotocol", []],
    ["another version's", ["a2achan.v2.json", "a2achan.v2.msgpack"]],
    ["another's subprotocol", ["graphql-transport-ws"]],
  ])("with %s is refused with 426 [A2C-FRM-02]", async (_title, offered) => {
    const lines = offered.map((value) => ["Sec-WebSocket-Protocol", value] as const);
    expectRefused(await exchange(target.url, LINE, headers(["Sec-WebSocket-Protocol"], ...lines)), 426);
  });

  it.each<[title: string, values: () => string[]]>([
    ["of another scheme", () => ["Basic b3BlcmF0b3I6c2VjcmV0"]],
    ["without a token", () => ["Bearer "]],
    ["with two words for a token", () => [`Bearer ${token} ${token}`]],
    ["with a token that was never given", () => [`Bearer ${UNKNOWN}`]],
    ["with a token whose last letter is another", () => [`Bearer ${token.slice(0, -1)}!`]],
    ["that is there twice", () => [`Bearer ${token}`, `Bearer ${token}`]],
    ["that is there twice, once good", () => [`Bearer ${UNKNOWN}`, `Bearer ${token}`]],
  ])("with an Authorization header %s is refused with 401 [A2C-AUTH-03]", async (_title, values) => {
    const lines = values().map((value) => ["Authorization", value] as const);
    expectRefused(await exchange(target.url, LINE, headers(["Authorization"], ...lines)), 401);
  });

  it("with a token in the query string is refused, and the token not read [A2C-AUTH-02]", async () => {
    expectRefused(await exchange(target.url, `GET /v1?token=${token} HTTP/1.1`, headers(["Authorization"])), 404);
  });
});
