export { Frontier } from "./frontier.js";
export { leafHash } from "./merkle.js";
