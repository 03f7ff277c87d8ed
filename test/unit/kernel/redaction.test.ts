import { describe, expect, it } from "vitest";
import { whyKept } from "../../../src/kernel/index.js";
import type { TextField } from "../../../src/protocol/index.js";
import { admittedId, textOf, told, type TestKernel } from "../../support/kernel.js";
import { running } from "../../support/kernel-scenes.js";

const OPERATOR = { role: "operator", subject: "operator" } as const;

/** What redacts a text of an entry, and what came of it. */
function redact(kernel: TestKernel, entry: number, field: TextField, text: string): string | undefined {
  const place = { entry, field, committed: textOf(field, text).commitment };
  const why = whyKept(kernel.state, place);
  const step = kernel.do({ kind: "redact", by: OPERATOR, ...place });
  expect(told(step)).toEqual(why === undefined ? ["redacted"] : []);
  return why;
}

describe("redact", () => {
  it("keeps the message of an open correction until it has ended", () => {
    const kernel = running();
    const step = kernel.correct("orch", { message: "Stay." });
    const id = admittedId(step);
    expect(redact(kernel, step.first, "message", "Stay.")).toContain(`is that of ${id}, which is open`);
    kernel.withdraw("orch", id);
    expect(redact(kernel, step.first, "message", "Stay.")).toBeUndefined();
    expect(kernel.events.at(-1)).toMatchObject({ kind: "redacted", by: OPERATOR, entry: step.first, field: "message" });
  });

  it("keeps what stands in a current row until the row has moved on", () => {
    const kernel = running();
    const step = kernel.status("w-1", { last_action: "read keys.txt", next_action: { summary: "use the key" } });
    const [plan, row] = [step.first, step.first + 1];
    expect(redact(kernel, row, "last_action", "read keys.txt")).toContain("stands in the current row of w-1");
    kernel.status("w-1", { last_action: "went on", next_action: { summary: "use the key" } });
    expect(redact(kernel, row, "last_action", "read keys.txt")).toBeUndefined();
    expect(redact(kernel, plan, "summary", "use the key")).toContain("stands in the current row of w-1");
    kernel.status("w-1", { last_action: "went on", next_action: { summary: "stop" } });
    expect(redact(kernel, plan, "summary", "use the key")).toBeUndefined();
  });

  it("redacts nothing of an entry that is not there", () => {
    const kernel = running();
    expect(redact(kernel, kernel.state.size, "message", "x")).toContain("and none with index");
  });
});
