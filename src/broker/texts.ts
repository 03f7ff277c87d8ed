import type { Text } from "../kernel/index.js";
import { commitment, utf8Bytes, type TextField } from "../protocol/index.js";
import { systemChance, type Chance } from "./chance.js";

const SALT_BYTES = 32;

/** A new text as the kernel holds it, committed to under a fresh salt. */
export function committed(field: TextField, text: string, chance: Chance = systemChance): Text {
  const salt = chance.bytes(SALT_BYTES);
  return {
    bytes: utf8Bytes(text),
    commitment: commitment(field, salt, text),
    text,
    salt: salt.toString("hex"),
  };
}
