import type { Planted } from "../planted.js";

/** Bugs of the SDK: what an application is handed and told, and what comes back by itself. */
export const CLIENT: readonly Planted[] = [
  {
    name: "a client hands out what it handed out before",
    file: "src/client/inbox.ts",
    find: "    if (this.#handed.has(id)) return;\n",
    replace: "",
    invariant: "I5",
  },
  {
    name: "a client hands out what was over before its receipt",
    file: "src/client/inbox.ts",
    find: 'item.received = reply.type === "stage" && reply.stage === "DELIVERED";',
    replace: 'item.received = reply.type === "stage";',
    invariant: "I12",
  },
  {
    name: "a client tells a stage twice",
    file: "src/client/course.ts",
    find: "    if (this.knows(notice.stage)) return false;\n",
    replace: "",
    invariant: "I7",
  },
  {
    name: "a worker does not publish again when it comes back",
    file: "src/client/row-lane.ts",
    find: "    this.#stale = this.#last !== undefined && !this.#republishing;\n",
    replace: "    this.#stale = false;\n",
    invariant: "I7",
  },
  {
    name: "a new session does not watch again",
    file: "src/client/watch-hub.ts",
    find: "    this.#watched = undefined;\n    this.#aim();\n  }\n\n  ended",
    replace: "    this.#aim();\n  }\n\n  ended",
    invariant: "watch",
  },
  {
    name: "a follower is given entries twice",
    file: "src/client/follow.ts",
    find: "      else if (index >= this.#after)\n",
    replace: "      else if (index >= 0)\n",
    invariant: "I1",
  },
];
