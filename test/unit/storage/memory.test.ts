import { MemoryStore } from "../../../src/storage/memory.js";
import { eventStoreSuite } from "../../support/event-store-suite.js";

eventStoreSuite("MemoryStore", () => Promise.resolve(new MemoryStore()));
