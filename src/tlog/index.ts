export { Frontier, rootHex } from "./frontier.js";
export { consistencyProof, inclusionProof, leafHash, verifyConsistency, verifyInclusion } from "./merkle.js";
export { PackedTree } from "./packed-tree.js";
export {
  formatVerifierKey,
  parseVerifierKey,
  signerKey,
  type NoteFault,
  type SignerKey,
  type VerifierKey,
} from "./note.js";
export { openCheckpoint, parseCheckpoint, signCheckpoint } from "./checkpoint.js";
export { bundleBytes, holdsTile, parseTilePath, TILE_WIDTH, tileBytes, tilePath, tilesOf, type Tile } from "./tiles.js";
export { formatTlogProof, parseTlogProof, verifyTlogProof } from "./tlog-proof.js";
