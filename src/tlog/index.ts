export { Frontier, type FrontierState } from "./frontier.js";
export {
  EMPTY_ROOT,
  consistencyProof,
  inclusionProof,
  leafHash,
  nodeHash,
  rootAt,
  verifyConsistency,
  verifyInclusion,
  type HashReader,
} from "./merkle.js";
export { PackedTree } from "./packed-tree.js";
