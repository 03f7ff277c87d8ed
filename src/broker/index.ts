export { Broker, type BrokerOptions, type GrantRequest } from "./broker.js";
export type { Chance } from "./chance.js";
export type { Clock } from "./clock.js";
export type { Connection } from "./connection.js";
export { OPERATOR_GRANT, grantRequest, type TokenRequest } from "./grant-request.js";
export { WrongKeys } from "./keys.js";
export { Outgoing, type Peer } from "./peer.js";
export type { Redaction, RedactionRequest } from "./redactions.js";
export { newToken, tokenId, type NewToken, type TokenHashes } from "./tokens.js";
