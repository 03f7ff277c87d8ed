import { REQUESTS, type RequestType } from "../protocol/index.js";
import { A2achanError } from "./errors.js";

/**
 * Throws `bad_frame` for a field that the request has not: a broker closes on a key that the protocol cannot have, and
 * a slip of the caller's (`nextAction`) should cost the call alone. What else may be wrong is the broker's to say.
 */
export function refuseUnknownFields(type: RequestType, frame: object): void {
  const { error } = REQUESTS[type].safeParse(frame);
  for (const issue of error?.issues ?? []) {
    if (issue.code !== "unrecognized_keys") continue;
    const [key = ""] = issue.keys;
    const place = [...issue.path, key].join(".");
    const meant = snakeCase(key);
    const hint = meant === key ? "" : `; did you mean ${meant}?`;
    throw new A2achanError("bad_frame", { sentence: `${type} has no field ${place}${hint === "" ? "." : hint}` });
  }
}

function snakeCase(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
