/**
 * Grant patterns (PROTOCOL.md section 8): `**` stands for any run of characters, `*` for any run without `/`,
 * everything else for itself. Deterministic and linear in pattern x id, so that a log replays alike for ever.
 */
export function matchesPattern(pattern: string, id: string): boolean {
  if (pattern === "**") return true;
  if (!pattern.includes("*")) return pattern === id;
  return matchFrom(pattern, id);
}

/** For worker and issue a lone `*` covers any id, slashes included. */
export function matchesWhole(pattern: string, id: string): boolean {
  return pattern === "*" || matchesPattern(pattern, id);
}

// One row of reachable positions in `id` at a time: no backtracking, whatever the pattern.
function matchFrom(pattern: string, id: string): boolean {
  let reach = new Array<boolean>(id.length + 1).fill(false);
  reach[0] = true;
  for (let p = 0; p < pattern.length; p += 1) {
    const next = new Array<boolean>(id.length + 1).fill(false);
    const char = pattern.charAt(p);
    if (char !== "*") {
      for (let i = 0; i < id.length; i += 1) if (reach[i] === true && id.charAt(i) === char) next[i + 1] = true;
    } else {
      const deep = pattern.charAt(p + 1) === "*";
      if (deep) p += 1;
      for (let i = 0; i <= id.length; i += 1) {
        const carried = i > 0 && next[i - 1] === true && (deep || id.charAt(i - 1) !== "/");
        next[i] = reach[i] === true || carried;
      }
    }
    reach = next;
  }
  return reach[id.length] === true;
}
