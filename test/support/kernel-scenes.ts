import type { Limits } from "../../src/protocol/index.js";
import { admittedId, SCOPE, TestKernel } from "./kernel.js";

/** A kernel with the orchestrators `orch` and `other`, and the workers `w-1` and `w-2`, of which `w-1` has a live row. */
export function running(limits?: Limits): TestKernel {
  const kernel = new TestKernel(limits);
  for (const subject of ["orch", "other"]) kernel.grant("orchestrator", subject);
  for (const subject of ["w-1", "w-2"]) {
    kernel.grant("worker", subject);
    kernel.connect(subject);
  }
  kernel.status("w-1", { last_action: "read the issue" });
  return kernel;
}

/** The raw frame of a correction that would be admitted, with `fields` over it. */
export function correctFrame(kernel: TestKernel, fields: object = {}): object {
  const status_digest = kernel.worker()?.digest;
  return { type: "correct", id: "r1", worker_id: "w-1", ...SCOPE, message: "Stay.", status_digest, ...fields };
}

/** Fills the inbox of `w-1` with eight corrections of `other`. */
export function fillInbox(kernel: TestKernel): string[] {
  return Array.from({ length: 8 }, (_, n) => admittedId(kernel.correct("other", { key: `fill-${n}` })));
}

/** Twenty admissions of `orch` at the time of now, none of them open for `w-1`. */
export function useUpRate(kernel: TestKernel): void {
  kernel.status("w-2");
  let supersedes: string | undefined;
  for (let n = 0; n < 20; n += 1) {
    supersedes = admittedId(kernel.correct("orch", { worker_id: "w-2", key: `rate-${n}`, supersedes }));
  }
}
