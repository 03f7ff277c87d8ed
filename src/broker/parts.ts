import type { EventStore } from "../storage/event-store.js";
import type { Limits } from "../protocol/index.js";
import type { Chance } from "./chance.js";
import type { Clock } from "./clock.js";
import type { Core } from "./core.js";
import type { Folds } from "./folds.js";
import type { Followers } from "./followers.js";
import type { Leases } from "./leases.js";
import type { Notary } from "./notary.js";
import type { Sessions } from "./sessions.js";
import type { TokenHashes } from "./tokens.js";
import type { Watchers } from "./watchers.js";

/** What the rooms of the broker share. Only `core` moves the state. */
export interface Parts {
  core: Core;
  store: EventStore;
  clock: Clock;
  chance: Chance;
  limits: Limits;
  hashes: TokenHashes;
  /** Key of correction ids; belongs to the log. */
  idKey: Uint8Array;
  notary: Notary;
  sessions: Sessions;
  watchers: Watchers;
  followers: Followers;
  leases: Leases;
  folds: Folds;
}
