import { WebSocket } from "ws";

/** Stands in for the WebSocket of a browser: an error that nobody listens for is no exception there. */
export class PlatformSocket extends WebSocket {
  constructor(url: string, protocol: string) {
    super(url, protocol);
    this.on("error", () => {});
  }
}
