import { describe, expect, it } from "vitest";
import { OPERATOR_GRANT, grantRequest, type TokenRequest } from "../../../src/broker/grant-request.js";

const EVERYWHERE = { worker: "**", issue: "**", lane: "**" };
const worker = (fields: Partial<TokenRequest> = {}): TokenRequest => ({
  role: "worker",
  subject: "w-1",
  issue: "**",
  lane: "src/**",
  ...fields,
});
const orchestrator = (fields: Partial<TokenRequest> = {}): TokenRequest => ({
  role: "orchestrator",
  subject: "lead",
  ...EVERYWHERE,
  ...fields,
});
const auditor = (fields: Partial<TokenRequest> = {}): TokenRequest => ({ role: "auditor", subject: "eve", ...fields });
const without = (request: TokenRequest, field: keyof TokenRequest): TokenRequest => {
  const { [field]: _left, ...rest } = request;
  return rest as TokenRequest;
};

describe("a grant", () => {
  it.each<[string, TokenRequest, object]>([
    [
      "a worker: publish, receive and ack as its subject",
      worker(),
      { verbs: ["publish", "receive", "ack"], patterns: { worker: "w-1", issue: "**", lane: "src/**" } },
    ],
    [
      "a worker that names itself",
      worker({ worker: "w-1" }),
      { patterns: { worker: "w-1", issue: "**", lane: "src/**" } },
    ],
    ["an orchestrator: correct and watch", orchestrator(), { verbs: ["correct", "watch"], patterns: EVERYWHERE }],
    ["an observer: watch", orchestrator({ watchOnly: true }), { verbs: ["watch"] }],
    ["an auditor: audit, everywhere", auditor(), { verbs: ["audit"], patterns: EVERYWHERE }],
    ["an auditor of texts", auditor({ text: true }), { verbs: ["audit", "audit.text"] }],
    ["a token that expires", auditor({ expiresInMs: 1 }), { expiresInMs: 1 }],
  ])("of %s", (_who, request, grant) => {
    const { role, subject } = request;
    expect(grantRequest(request)).toMatchObject({ role, subject, ...grant });
  });

  it("has no expiry unless one is asked for", () => {
    expect(grantRequest(auditor())).not.toHaveProperty("expiresInMs");
  });

  it("of the operator covers everything but acting as a worker", () => {
    expect(OPERATOR_GRANT).toEqual({
      role: "operator",
      subject: "operator",
      verbs: ["correct", "watch", "audit", "audit.text", "admin"],
      patterns: EVERYWHERE,
    });
  });
});

const missing = (name: string): string => `say what the token covers with --${name}; --${name} '**' covers all`;
const noPattern = (name: string): string => `--${name} takes an id or a pattern: 1-128 ASCII characters, no blanks`;
const EXPIRES = "--expires takes a time from now, such as 30m, 24h or 7d";
const SUBJECT = "--subject takes an id: 1-128 ASCII characters, no blanks; see encodeId";
const AUDITOR = "an auditor reads the whole log; leave --worker, --issue and --lane out";

describe("a request that makes no sense is refused with one sentence", () => {
  it.each<[string, TokenRequest]>([
    [missing("worker"), without(orchestrator(), "worker")],
    [missing("issue"), without(orchestrator(), "issue")],
    [missing("lane"), without(orchestrator(), "lane")],
    [missing("issue"), without(worker(), "issue")],
    [missing("lane"), without(worker(), "lane")],
  ])("[A2C-AUTH-12] %s", (sentence, request) => {
    expect(() => grantRequest(request)).toThrow(new RangeError(sentence));
  });

  it.each<[string, TokenRequest]>([
    [SUBJECT, auditor({ subject: "" })],
    [SUBJECT, auditor({ subject: "two words" })],
    [SUBJECT, worker({ subject: "a..b" })],
    ["the subject 'operator' is the operator token's own; choose another", orchestrator({ subject: "operator" })],
    [noPattern("worker"), orchestrator({ worker: "" })],
    [noPattern("issue"), orchestrator({ issue: "two words" })],
    [noPattern("lane"), orchestrator({ lane: "x".repeat(129) })],
    ["--text goes with --role auditor", orchestrator({ text: true })],
    ["--watch-only goes with --role orchestrator", auditor({ watchOnly: true })],
    ["a worker's token acts as its subject only; leave --worker out", worker({ worker: "w-2" })],
    [AUDITOR, auditor({ worker: "**" })],
    [AUDITOR, auditor({ issue: "**" })],
    [AUDITOR, auditor({ lane: "**" })],
    [EXPIRES, auditor({ expiresInMs: 0 })],
    [EXPIRES, auditor({ expiresInMs: -1 })],
    [EXPIRES, auditor({ expiresInMs: 1.5 })],
    [EXPIRES, auditor({ expiresInMs: Number.NaN })],
    [EXPIRES, auditor({ expiresInMs: Number.POSITIVE_INFINITY })],
  ])("%s", (sentence, request) => {
    expect(() => grantRequest(request)).toThrow(new RangeError(sentence));
  });

  it("takes false for what was not asked", () => {
    expect(grantRequest(worker({ text: false, watchOnly: false }))).toMatchObject({ role: "worker" });
  });
});
