export { createBroker, type CreateBrokerOptions, type RunningBroker } from "./server.js";
export {
  Broker,
  type Clock,
  type GrantRequest,
  type NewToken,
  type TokenHashes,
  type TokenRequest,
} from "./broker/index.js";
export { MemoryStore } from "./storage/memory.js";
export type { Batch, EventStore, Page } from "./storage/event-store.js";
export { DamagedLog, Journal, type JournalOptions } from "./storage/journal/index.js";
