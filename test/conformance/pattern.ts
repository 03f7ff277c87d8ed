import { digestOf } from "./digest.js";

/** What a scenario has saved, by name. */
export type Vars = Map<string, unknown>;
type Fields = Record<string, unknown>;

/** Frames that `$like` names. */
export type Frames = Readonly<Record<string, Fields>>;

/** Puts variables, templates and `$repeat` into a value that is about to be sent. */
export function resolve(value: unknown, vars: Vars, frames: Frames): unknown {
  if (typeof value === "string") return resolveString(value, vars);
  if (Array.isArray(value)) return value.map((item) => resolve(item, vars, frames));
  if (!isFields(value)) return value;
  if (Array.isArray(value["$repeat"])) {
    const [text, times] = value["$repeat"] as [string, number];
    return text.repeat(times);
  }
  if (Array.isArray(value["$concat"])) return value["$concat"].map((part) => resolve(part, vars, frames)).join("");
  const { $like, ...own } = value;
  const merged = typeof $like === "string" ? { ...frames[$like], ...own } : own;
  const kept = Object.entries(merged).filter(([, member]) => member !== "$absent");
  return Object.fromEntries(kept.map(([name, member]) => [name, resolve(member, vars, frames)]));
}

function resolveString(text: string, vars: Vars): unknown {
  const digest = /^\$digest_of:(\w+)$/.exec(text)?.[1];
  if (digest !== undefined) return digestOf(read(vars, digest));
  const [, name, plus] = /^\$(\w+)(?:\+(\d+))?$/.exec(text) ?? [];
  if (name !== undefined) return plus === undefined ? read(vars, name) : Number(read(vars, name)) + Number(plus);
  return text.replace(/\$\{(\w+)\}/g, (_, inner: string) => String(read(vars, inner)));
}

function read(vars: Vars, name: string): unknown {
  if (!vars.has(name)) throw new Error(`the scenario uses $${name} and has not saved it`);
  return vars.get(name);
}

/** Why a value is not what the pattern says, or undefined if it is. The patterns are those of README.md. */
export function mismatch(pattern: unknown, actual: unknown, vars: Vars, at = "it"): string | undefined {
  if (pattern === "$any") return actual === undefined ? `${at} is absent` : undefined;
  if (pattern === "$absent") return actual === undefined ? undefined : `${at} is ${show(actual)}, and was to be absent`;
  if (typeof pattern === "string" && pattern.startsWith("$re:")) {
    const matches = typeof actual === "string" && new RegExp(pattern.slice(4), "u").test(actual);
    return matches ? undefined : `${at} is ${show(actual)}, which does not match ${pattern.slice(4)}`;
  }
  if (Array.isArray(pattern)) return mismatchList(pattern, actual, vars, at);
  if (isFields(pattern)) return mismatchFields(pattern, actual, vars, at);
  const wanted = typeof pattern === "string" ? resolveString(pattern, vars) : pattern;
  // A variable may hold a row or a list: equal then means equal all through.
  if (isFields(wanted)) return mismatchExact(wanted, actual, vars, at);
  if (Array.isArray(wanted)) return mismatchList(wanted, actual, vars, at);
  return wanted === actual ? undefined : `${at} is ${show(actual)}, not ${show(wanted)}`;
}

function mismatchList(pattern: readonly unknown[], actual: unknown, vars: Vars, at: string): string | undefined {
  if (!Array.isArray(actual)) return `${at} is ${show(actual)}, not a list`;
  if (actual.length !== pattern.length)
    return `${at} has ${actual.length} items, not ${pattern.length}: ${show(actual)}`;
  return firstOf(pattern.map((item, index) => () => mismatch(item, actual[index], vars, `${at}[${index}]`)));
}

function mismatchExact(pattern: Fields, actual: unknown, vars: Vars, at: string): string | undefined {
  const names = isFields(actual) ? Object.keys(actual).toSorted() : [];
  const wanted = Object.keys(pattern).toSorted();
  if (names.join() !== wanted.join()) return `${at} has the fields ${show(names)}, not ${show(wanted)}`;
  return firstOf(wanted.map((name) => () => mismatch(pattern[name], (actual as Fields)[name], vars, `${at}.${name}`)));
}

function mismatchFields(pattern: Fields, actual: unknown, vars: Vars, at: string): string | undefined {
  const [operator = "", ...others] = Object.keys(pattern);
  const operand = pattern[operator];
  if (operator.startsWith("$") && others.length === 0) return mismatchOperator(operator, operand, actual, vars, at);
  if (!isFields(actual)) return `${at} is ${show(actual)}, not an object`;
  const names = Object.keys(pattern);
  return firstOf(names.map((name) => () => mismatch(pattern[name], actual[name], vars, `${at}.${name}`)));
}

function mismatchOperator(
  operator: string,
  operand: unknown,
  actual: unknown,
  vars: Vars,
  at: string,
): string | undefined {
  switch (operator) {
    case "$exact":
      return mismatchExact(operand as Fields, actual, vars, at);
    case "$not":
      return mismatch(operand, actual, vars, at) === undefined ? `${at} is ${show(actual)}` : undefined;
    case "$above": {
      const bound = resolve(operand, vars, {});
      return typeof actual === "number" && actual > Number(bound)
        ? undefined
        : `${at} is ${show(actual)}, not above ${show(bound)}`;
    }
    case "$some": {
      const found = Array.isArray(actual) && actual.some((item) => mismatch(operand, item, vars) === undefined);
      return found ? undefined : `${at} has nothing like ${show(operand)}: ${show(actual)}`;
    }
    case "$json":
      return typeof actual === "string"
        ? mismatch(operand, JSON.parse(actual), vars, `${at} as JSON`)
        : `${at} is ${show(actual)}`;
    case "$repeat":
      return mismatch(resolve({ $repeat: operand }, vars, {}), actual, vars, at);
    default:
      throw new Error(`there is no operator ${operator}`);
  }
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const found = check();
    if (found !== undefined) return found;
  }
  return undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
