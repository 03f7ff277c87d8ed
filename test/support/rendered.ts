/** What a careful reader takes from a rendered correction. */
export interface Rendered {
  boundary: string;
  before: string;
  provenance: Record<string, string>;
  message: string;
  after: string;
}

/**
 * Reads what `renderForModel` wrote by its own words alone: the first line that parts it names the boundary, and only
 * lines that begin with that boundary part anything. Throws when there are not exactly three, in their order.
 */
export function readRendered(text: string): Rendered {
  const lines = text.split("\n");
  const [, boundary = ""] = /^(==[0-9a-f]{32}==) provenance$/m.exec(text) ?? [];
  const at = lines.flatMap((line, number) => (boundary !== "" && line.startsWith(boundary) ? [number] : []));
  const [provenance = 0, message = 0, end = 0] = at;
  const labels = at.map((number) => lines[number]?.slice(boundary.length));
  if (labels.join() !== " provenance, message, end") throw new Error(`parted by ${JSON.stringify(labels)}`);
  const facts = lines.slice(provenance + 1, message).map((line) => {
    const colon = line.indexOf(": ");
    return [line.slice(0, colon), line.slice(colon + 2)];
  });
  return {
    boundary,
    before: lines.slice(0, provenance).join("\n"),
    provenance: Object.fromEntries(facts) as Record<string, string>,
    message: lines.slice(message + 1, end).join("\n"),
    after: lines.slice(end + 1).join("\n"),
  };
}
