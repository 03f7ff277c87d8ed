import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MemoryStore } from "../../../src/storage/memory.js";
import { LocalBroker, type LocalClient } from "../../support/local.js";

const TOO_MANY = { code: 4429, reason: "too many connections or frames" };

let local: LocalBroker;
let client: LocalClient;

beforeEach(async () => {
  local = await LocalBroker.open({ store: new MemoryStore() });
  client = await local.orchestrator("lead");
  // What hello took is there again.
  local.clock.advance(1_000);
});
afterEach(() => local.stop());

function pings(count: number): void {
  for (let sent = 0; sent < count; sent += 1) client.tell({ type: "ping" });
}

describe("the budget of frames [A2C-FRM-39]", () => {
  it("is 100 at once, however long a client was quiet", () => {
    local.clock.advance(10_000);
    pings(100);
    expect(client.closedWith).toBeUndefined();
    pings(1);
    expect(client.closedWith).toEqual(TOO_MANY);
  });

  it("has room for what queued up while the broker itself did not read", () => {
    const readAgain = client.connection.unread();
    local.clock.advance(10_000);
    readAgain();
    pings(100 + 10 * 50);
    expect(client.closedWith).toBeUndefined();
    pings(1);
    expect(client.closedWith).toEqual(TOO_MANY);
  });

  it("is the usual one once that room is used up", () => {
    const readAgain = client.connection.unread();
    local.clock.advance(10_000);
    readAgain();
    pings(600);
    local.clock.advance(10_000);
    pings(100);
    expect(client.closedWith).toBeUndefined();
    pings(1);
    expect(client.closedWith).toEqual(TOO_MANY);
  });
});
