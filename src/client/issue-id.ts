import { encodeId } from "../protocol/index.js";

/** An issue as it goes on the wire: a number as its digits, a string as it is. Throws RangeError as `encodeId` does. */
export function issueId(issue: string | number): string {
  return typeof issue === "number" ? encodeId(issue) : issue;
}
