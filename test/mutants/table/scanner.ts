import { faultsOf } from "../mutant.js";

/** What is let in as a request: PROTOCOL.md section 6, clauses 6.46 to 6.52 and 6.65 to 6.68. */
export const SCANNER = [
  ...faultsOf(
    "codec/scan-json.ts",
    ["unit/codec/json"],
    [
      ["FRM-31", "A number beyond 2^53-1 passes.", "Number.isSafeInteger(magnitude) && !(negative", "!(negative"],
      [
        "FRM-31",
        "A number of -0 passes.",
        "Number.isSafeInteger(magnitude) && !(negative && magnitude === 0);",
        "Number.isSafeInteger(magnitude);",
      ],
      [
        "FRM-31",
        "A fraction passes.",
        "    if (end === at + 1) return false;\n    at = end;\n    plain = false;",
        "    if (end === at + 1) return false;\n    at = end;",
      ],
      [
        "FRM-31",
        "An exponent passes.",
        "    if (at === digits) return false;\n    plain = false;",
        "    if (at === digits) return false;",
      ],
      [
        "FRM-34",
        "A number may begin with a zero.",
        "at === start || (byteAt(bytes, start) === ZERO && at > start + 1)",
        "at === start",
      ],
      ["FRM-32", "An escaped lone surrogate passes.", `  cursor.detail ??= "TEXT_ENCODING";\n`, ""],
      [
        "FRM-32",
        "An escaped high surrogate may stand before anything.",
        "if (low >= 0xdc00 && low <= 0xdfff) return at + 12;",
        "if (low >= 0) return at + 12;",
      ],
      ["FRM-32", "An escaped pair is refused.", "if (low >= 0xdc00 && low <= 0xdfff) return at + 12;", ""],
      ["FRM-34", "A message may go on behind its object.", "if (cursor.at !== bytes.length) return { ok: false };", ""],
      ["FRM-34", "A message may be an array.", "byteAt(bytes, cursor.at) !== OPEN_BRACE || !readValue", "!readValue"],
      ["FRM-34", "A ninth container passes.", "depth < MAX_DEPTH && readObject", "depth <= MAX_DEPTH && readObject"],
      ["FRM-34", "A ninth array passes.", "depth < MAX_DEPTH && readArray", "depth <= MAX_DEPTH && readArray"],
      [
        "FRM-34",
        "4,097 values pass.",
        "if (cursor.nodes > MAX_NODES) return false;",
        "if (cursor.nodes > MAX_NODES + 1) return false;",
      ],
      [
        "FRM-34",
        "4,096 values are too many.",
        "if (cursor.nodes > MAX_NODES) return false;",
        "if (cursor.nodes >= MAX_NODES) return false;",
      ],
      [
        "FRM-34",
        "A key may stand twice in its object.",
        " || !addKey(seen, bytes, start, end)) return false;",
        ") return false;",
      ],
      [
        "FRM-34",
        "A control character may stand in a string.",
        "if (byte < 0x20) return false;",
        "if (byte === 0) return false;",
      ],
      [
        "FRM-34",
        "A comma may stand before the end of an array.",
        "    if (byte === CLOSE_BRACKET) return true;\n    if (byte !== COMMA) return false;\n    skipSpace(cursor);",
        "    if (byte === CLOSE_BRACKET) return true;\n    if (byte !== COMMA) return false;\n    skipSpace(cursor);\n    if (byteAt(bytes, cursor.at) === CLOSE_BRACKET) return (cursor.at += 1) > 0;",
      ],
    ],
  ),
  ...faultsOf(
    "codec/scan.ts",
    ["unit/codec/json", "unit/codec/msgpack"],
    [
      ["FRM-34", "An overlong form of two bytes passes as UTF-8.", "lead < 0xc2 ||", "lead < 0xc0 ||"],
      [
        "FRM-34",
        "An overlong form of three bytes passes as UTF-8.",
        "if (lead === 0xe0 && second < 0xa0) return -1;",
        "",
      ],
      ["FRM-34", "An encoded surrogate passes as UTF-8.", "if (lead === 0xed && second > 0x9f) return -1;", ""],
      [
        "FRM-34",
        "An overlong form of four bytes passes as UTF-8.",
        "if (lead === 0xf0 && second < 0x90) return -1;",
        "",
      ],
      ["FRM-34", "A character above U+10FFFF passes.", "if (lead === 0xf4 && second > 0x8f) return -1;", ""],
      [
        "FRM-34",
        "A sequence that is cut short passes as UTF-8.",
        "return isContinuation(byteAt(bytes, at + 3)) ? at + 4 : -1;",
        "return at + 4;",
      ],
      [
        "FRM-34",
        "A key of 33 bytes passes.",
        "if (at - start > MAX_KEY_BYTES) return -1;",
        "if (at - start > MAX_KEY_BYTES + 1) return -1;",
      ],
      [
        "FRM-34",
        "A key may begin with a digit.",
        "if (!letter && (!tail || at === start)) break;",
        "if (!letter && !tail) break;",
      ],
      [
        "FRM-34",
        "A repeated key passes behind the 16th.",
        "return seen.names.add(keyText(bytes, start, end)).size > size;",
        "return seen.names.add(keyText(bytes, start, end)).size >= size;",
      ],
      [
        "FRM-34",
        "A repeated key passes before the 16th.",
        "if (length === end - start && sameBytes(bytes, other, start, length)) return false;",
        "",
      ],
      ["FRM-33", "The path of a fault is told from the inside.", "path: path.toReversed()", "path"],
    ],
  ),
  ...faultsOf(
    "codec/scan-msgpack.ts",
    ["unit/codec/msgpack"],
    [
      [
        "FRM-43 FRM-31",
        "Any MessagePack number passes.",
        `if (!Number.isSafeInteger(value) || Object.is(value, -0)) cursor.detail ??= "SHAPE";`,
        "",
      ],
      ["FRM-43 FRM-31", "A float of -0 passes.", " || Object.is(value, -0)) cursor", ") cursor"],
      [
        "FRM-43",
        "A float64 is judged by its format.",
        "Number.isSafeInteger(value) || Object.is(value, -0)",
        "Number.isSafeInteger(value) || format === 0xcb",
      ],
      ["FRM-43", "A uint64 is read as signed.", "Number(view.getBigUint64(0))", "Number(view.getBigInt64(0))"],
      [
        "FRM-43",
        "A number that is cut short passes.",
        "number === undefined || at + number.width > bytes.length",
        "number === undefined",
      ],
      [
        "FRM-44",
        "A bin passes as a text.",
        "  if (format >= FIX_STR && format < NIL) length = format - FIX_STR;",
        "  if (format === 0xc4) length = readLength(cursor, 1);\n  else if (format >= FIX_STR && format < NIL) length = format - FIX_STR;",
      ],
      [
        "FRM-44",
        "An ext passes.",
        "const number = NUMBERS.get(format);",
        "const number = format === 0xd4 ? { width: 2, value: () => 0 } : NUMBERS.get(format);",
      ],
      ["FRM-44", "The byte that MessagePack never uses passes.", "    case NIL:\n", "    case NIL:\n    case 0xc1:\n"],
      [
        "FRM-34",
        "A ninth map passes.",
        "function readMap(cursor: Cursor, length: number, depth: number): boolean {\n  if (depth > MAX_DEPTH)",
        "function readMap(cursor: Cursor, length: number, depth: number): boolean {\n  if (depth > MAX_DEPTH + 1)",
      ],
      ["FRM-34", "4,097 MessagePack values pass.", "cursor.nodes > MAX_NODES ||", "cursor.nodes > MAX_NODES + 1 ||"],
      [
        "FRM-34",
        "A message may go on behind its map.",
        " || cursor.at !== bytes.length) return { ok: false };",
        ") return { ok: false };",
      ],
      ["FRM-34", "A key may stand twice in its map.", " || !addKey(seen, bytes, start, end))\n", ")\n"],
      ["FRM-34", "A text borrows from the bytes behind it.", "return at === end;", "return at >= end;"],
    ],
  ),
  ...faultsOf(
    "codec/msgpack.ts",
    ["unit/codec/msgpack"],
    [
      ["FRM-45", "A field without a value is written.", "skipValues: [undefined]", "skipValues: []"],
      ["FRM-45", "A lone surrogate is written as another text.", "  requireWellFormed(frame);\n", ""],
      [
        "TXT-02",
        "A byte order mark is lost from a text.",
        "packr.unpack(hasMark(data) ? keepingMarks(data) : data);",
        "packr.unpack(data);",
      ],
    ],
  ),
  ...faultsOf(
    "codec/json.ts",
    ["unit/codec/json"],
    [
      [
        "FRM-34",
        "A byte order mark is passed over.",
        "decode: decoderOf(scanJson, read),",
        "decode: (data) => decoderOf(scanJson, read)(data[0] === 0xef ? data.subarray(3) : data),",
      ],
    ],
  ),
  ...faultsOf(
    "codec/decoder.ts",
    ["unit/codec/json", "unit/codec/msgpack"],
    [
      [
        "FRM-31 FRM-32",
        "A fault inside a message is not told.",
        "scanned.fault === undefined ? { ok: true, value } : { ok: true, value, fault: scanned.fault };",
        "{ ok: true, value };",
      ],
    ],
  ),
  ...faultsOf(
    "protocol/parse.ts",
    ["unit/protocol/parse"],
    [
      [
        "FRM-33",
        "A refusal repeats a key of the client's own.",
        `if (typeof field === "string" && Object.hasOwn(REQUESTS[type].shape, field)) refusal`,
        `if (typeof field === "string") refusal`,
      ],
      [
        "FRM-34",
        "A type of Object's own is known.",
        "return Object.hasOwn(REQUESTS, type);",
        "return type in REQUESTS;",
      ],
      [
        "FRM-34",
        "A frame without a good id is refused.",
        `if (!requestIdField.safeParse(id).success) return { kind: "unknown" };`,
        "",
      ],
      [
        "FRM-31 FRM-32",
        "A frame with a fault inside is taken if its shape is good.",
        "fault === undefined ? validRequest(value as Record<string, unknown>, type) : undefined;",
        "validRequest(value as Record<string, unknown>, type);",
      ],
    ],
  ),
  ...faultsOf(
    "protocol/requests.ts",
    ["unit/protocol/requests"],
    [
      ["FRM-30", "An unknown field of a status is passed over.", "  status: z.strictObject({", "  status: z.object({"],
      [
        "FRM-30",
        "An unknown field of a filter is passed over.",
        "export const filter = z.strictObject({",
        "export const filter = z.object({",
      ],
    ],
  ),
  ...faultsOf(
    "protocol/valid-requests.ts",
    ["unit/protocol/requests", "property/valid-requests.property"],
    [
      [
        "FRM-30",
        "An unknown field of the commonest frames is passed over.",
        "return Object.keys(value).length === count;",
        "return Object.keys(value).length >= count;",
      ],
    ],
  ),
  ...faultsOf(
    "transport/ws-server.ts",
    ["integration/isolation", "integration/hello"],
    [
      ["FRM-34", "A binary message passes where frames are text.", "isBinary !== codec.binary || (", "("],
      [
        "FRM-35",
        "A message may be one byte longer.",
        "maxPayload: limits.frame_bytes,",
        "maxPayload: limits.frame_bytes + 1,",
      ],
      [
        "FRM-42",
        "A first message may be of any length.",
        "!authenticated && bytes.length > LIMITS.hello_bytes",
        "!authenticated && bytes.length > LIMITS.frame_bytes",
      ],
      [
        "LIM-09",
        "ws judges UTF-8 itself, with a close of its own.",
        "skipUTF8Validation: true,",
        "skipUTF8Validation: false,",
      ],
    ],
  ),
];
