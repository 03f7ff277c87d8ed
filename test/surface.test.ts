import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as client from "../src/client/index.js";
import * as main from "../src/index.js";
import * as protocol from "../src/protocol/index.js";
import { findUndocumented } from "./support/docstrings.js";
import { collectImports, type ImportRef } from "./support/imports.js";
import { projectRoot } from "./support/source-files.js";

const readSource = (path: string): string => readFileSync(join(projectRoot, "src", path), "utf8");
const readExports = (path: string): ImportRef[] => collectImports(path, readSource(path));

// What users hold on to. A change here is a change for them: it belongs into CHANGELOG.md, and into the spec.
describe("the public surface", () => {
  it("exports these names from the package", () => {
    expect(Object.keys(main).sort()).toEqual(["Broker", "DamagedLog", "Journal", "MemoryStore", "createBroker"]);
  });

  it("exports these names from a2achan/client", () => {
    expect(Object.keys(client).sort()).toEqual([
      "A2achanError",
      "ERROR_CODES",
      "checkpointFile",
      "connectAuditor",
      "connectOrchestrator",
      "connectWorker",
      "decodeId",
      "encodeId",
      "isRefused",
      "renderForModel",
      "sanitize",
      "statusDigest",
    ]);
  });

  it("exports these types from a2achan/client; test/types says what each of them is", () => {
    const types = readExports("client/index.ts").flatMap(({ typeNames }) => typeNames);
    expect(types.sort()).toEqual([
      "Admitted",
      "Auditor",
      "CallOptions",
      "CheckpointStore",
      "ConnectOptions",
      "CorrectOptions",
      "Correction",
      "CorrectionScope",
      "Covered",
      "Denied",
      "EntryProof",
      "ErrorCode",
      "Gone",
      "LogEntry",
      "LogFilter",
      "LogPage",
      "LoggedAnswer",
      "MovedField",
      "Orchestrator",
      "Outcome",
      "PlanFields",
      "PlannedAction",
      "Receipt",
      "Refused",
      "RemovedCodePoint",
      "RenderOptions",
      "RenderedCorrection",
      "Sanitized",
      "StageAnswer",
      "StageNotice",
      "StatusAnswer",
      "StatusFields",
      "View",
      "Worker",
      "WorkerChange",
      "WorkerFilter",
      "WorkerOptions",
      "WorkerPage",
      "WorkerStatus",
    ]);
    const pinned = readFileSync(join(projectRoot, "test/types/client.types.ts"), "utf8");
    expect(types.filter((name) => !pinned.includes(`client.${name}`))).toEqual([]);
  });

  it("documents every name that it exports from a2achan/client, and every call of those", () => {
    const documented = readExports("client/index.ts")
      .filter(({ specifier }) => specifier.startsWith("./"))
      .flatMap(({ specifier, names }) => {
        const path = `client/${specifier.slice(2).replace(/\.js$/, ".ts")}`;
        return names.map((name) => ({ path, name }));
      });
    expect(documented.length).toBeGreaterThan(35);
    expect(documented.flatMap(({ path, name }) => findUndocumented(path, readSource(path), name))).toEqual([]);
  });

  it("exports these names from a2achan/protocol", () => {
    expect(Object.keys(protocol).sort()).toEqual([
      "CLOSE",
      "DETAILS",
      "END_STAGES",
      "FINAL_CLOSE_CODES",
      "LIMITS",
      "LIVENESS",
      "OPEN_STAGES",
      "PROTOCOL",
      "PUSHES",
      "REASONS",
      "REPLIES",
      "REQUESTS",
      "REQUEST_VERB",
      "ROLES",
      "ROLE_VERBS",
      "RULES_VERSION",
      "STAGES",
      "STAGE_DETAILS",
      "STATUS_SCHEMA",
      "SUBPROTOCOL_JSON",
      "SUBPROTOCOL_MSGPACK",
      "TEXT_FIELDS",
      "TEXT_POLICY",
      "TOKEN_ROLES",
      "VERBS",
      "VIA",
      "canonicalCorrection",
      "canonicalJson",
      "canonicalRow",
      "checkText",
      "commitment",
      "correctionContent",
      "correctionId",
      "covers",
      "decodeId",
      "describeTextFault",
      "encodeId",
      "isCorrectionId",
      "isId",
      "isOpen",
      "matchesPattern",
      "matchesWhole",
      "parseRequest",
      "statusDigest",
      "utf8Bytes",
      "workerStatus",
    ]);
  });

  it("is offered at these paths of the package", () => {
    const manifest = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as Record<string, object>;
    expect(Object.keys(manifest["exports"] ?? {})).toEqual([".", "./client", "./protocol", "./package.json"]);
    expect(manifest["bin"]).toEqual({ a2achan: "./dist/cli/main.js" });
  });
});

describe("the closed vocabulary of protocol 1 [A2C-VER-02]", () => {
  it("has these reasons and details", () => {
    expect(protocol.REASONS).toEqual([
      "DEFAULT_DENY",
      "MALFORMED",
      "OVERSIZE",
      "UNWITNESSED",
      "TRUST_VIOLATION",
      "RATE_LIMITED",
      "LEASE_HELD",
    ]);
    expect(protocol.DETAILS).toEqual({
      DEFAULT_DENY: ["NO_GRANT", "REVOKED"],
      MALFORMED: ["SHAPE", "ID", "TEXT_BLANK", "TEXT_HIDDEN", "TEXT_ENCODING"],
      OVERSIZE: [],
      UNWITNESSED: ["NO_ROW", "NOT_LIVE", "ENDED", "DIGEST", "SUPERSEDES", "SEQ"],
      TRUST_VIOLATION: ["PRINCIPAL", "SCOPE", "SUPERSEDES", "CORRECTION", "CITED"],
      RATE_LIMITED: ["INBOX_FULL", "RATE"],
      LEASE_HELD: ["SESSION"],
    });
  });

  it("has these stages, in this order, and these details of stages", () => {
    expect(protocol.STAGES).toEqual([
      "ADMITTED",
      "DELIVERED",
      "ACKED",
      "WITNESSED",
      "UNREFLECTED",
      "DECLINED",
      "EXPIRED",
      "WITHDRAWN",
      "SUPERSEDED",
      "STALE",
      "ORPHANED",
      "REVOKED",
    ]);
    expect(protocol.STAGE_DETAILS).toEqual(["RUN_CHANGED", "DIGEST_MOVED", "WINDOW"]);
  });

  it("has these close codes, with reasons of at most 40 bytes, of which four are final", () => {
    const closes = Object.values(protocol.CLOSE).map(({ code, reason }) => [code, reason]);
    expect(closes).toEqual([
      [1000, "done"],
      [4400, "bad frame"],
      [4401, "unauthenticated or revoked"],
      [4403, "role not granted"],
      [4408, "hello timeout"],
      [4409, "fenced by a newer session"],
      [4429, "too many connections or frames"],
      [4430, "slow consumer"],
      [4500, "broker stopped on a fault"],
      [4503, "draining"],
    ]);
    expect(closes.filter(([, reason]) => Buffer.byteLength(String(reason)) > 40)).toEqual([]);
    expect(protocol.FINAL_CLOSE_CODES).toEqual([4400, 4401, 4403, 4409]);
  });

  it("has these frames and verbs", () => {
    expect(Object.keys(protocol.REQUESTS).join(" ")).toBe(
      "hello status receive ack decline inbox bye get list watch unwatch correct withdraw stage log follow " +
        "progress evidence checkpoint prove ping",
    );
    expect(Object.keys(protocol.REPLIES).join(" ")).toBe(
      "welcome row rows stage receipt refusal entries ok proof pong",
    );
    expect(Object.keys(protocol.PUSHES).join(" ")).toBe("correction stage row entries");
    expect(protocol.VERBS.join(" ")).toBe("publish receive ack correct watch audit audit.text admin");
  });
});
