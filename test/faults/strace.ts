import { spawnSync } from "node:child_process";
import { builtProgram, Program } from "../support/program.js";

/** Why system calls cannot be made to fail here; undefined where they can. */
export function whyNoInjection(): string | undefined {
  if (process.platform !== "linux") return "strace is Linux's";
  const args = ["-f", "-qq", "-e", "trace=fdatasync", "-e", "inject=fdatasync:error=EIO", "true"];
  const { error, status, stderr } = spawnSync("strace", args, { encoding: "utf8" });
  if (error !== undefined) return "strace is not installed";
  return status === 0 ? undefined : `strace may not trace: ${stderr.trim()}`;
}

/** One system call on one file, the n-th of which fails with EIO. */
export interface Injection {
  call: "fdatasync" | "pwrite64";
  nth: number;
  file: string;
}

/**
 * `a2achan serve` on a data directory, whose n-th call fails. All its calls on that file are written to `trace`. One
 * thread makes all the syncs, since strace counts the calls of each thread for itself.
 */
export function sickServe(data: string, { call, nth, file }: Injection, trace: string): Program {
  const strace = ["-D", "-f", "-qq", "--seccomp-bpf", "-o", trace, "-P", file];
  const inject = ["-e", "trace=fdatasync,pwrite64", "-e", `inject=${call}:error=EIO:when=${nth}`];
  const serve = [builtProgram(), "serve", "--data", data, "--port", "0", "-o", "json", "--log-level", "warn"];
  return new Program([...strace, ...inject, process.execPath, ...serve], {
    command: "strace",
    env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
  });
}
