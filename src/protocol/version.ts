/** The protocol spoken on the wire (PROTOCOL.md section 1). */
export const PROTOCOL = "a2achan/1";

/** WebSocket subprotocols, one a codec (PROTOCOL.md section 6). */
export const SUBPROTOCOL_JSON = "a2achan.v1.json";
export const SUBPROTOCOL_MSGPACK = "a2achan.v1.msgpack";

/** `schema` of every status row. */
export const STATUS_SCHEMA = "a2achan.worker-status.v1";

/** Version of the admission and life-cycle rules; written into `broker_started` so that old logs replay under theirs. */
export const RULES_VERSION = 1;
