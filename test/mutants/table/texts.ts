import { faultsOf } from "../mutant.js";

/** Text policy 1: PROTOCOL.md section 2, clauses 2.20 to 2.33. */
export const TEXTS = [
  ...faultsOf("protocol/text.ts", "unit/protocol/text", [
    [
      "TXT-04",
      "A lone high surrogate passes.",
      "else if (isHighSurrogate(unit) || isLowSurrogate(unit)) return",
      "else if (isLowSurrogate(unit)) return",
    ],
    [
      "TXT-04",
      "A lone low surrogate passes.",
      "else if (isHighSurrogate(unit) || isLowSurrogate(unit)) return",
      "else if (isHighSurrogate(unit)) return",
    ],
    [
      "TXT-05",
      "A blank text passes.",
      "findLoneSurrogate(text) ?? findBlank(text) ?? textFaults",
      "findLoneSurrogate(text) ?? textFaults",
    ],
    ["TXT-05", "A text of blanks and newlines passes.", "let visible = false;", 'let visible = text !== "";'],
    [
      "TXT-06",
      "Hidden characters pass.",
      "} else if (isIn(HIDDEN, codePoint) && !isInPlace(text, at, codePoint)) {",
      "} else if (codePoint < 0x20 && isIn(HIDDEN, codePoint)) {",
    ],
    [
      "TXT-06",
      "A carriage return passes.",
      "unit !== 0x20 && unit !== 0x0a && unit !== 0x09) return false;",
      "unit !== 0x20 && unit !== 0x0a && unit !== 0x09 && unit !== 0x0d) return false;",
    ],
    ["TXT-06", "DEL passes.", "unit > 0x20 && unit < 0x7f", "unit > 0x20 && unit <= 0x7f"],

    [
      "TXT-08",
      "U+FE0F passes behind anything.",
      "if (codePoint === EMOJI_PRESENTATION) return isIn(EMOJI, codePointBefore(text, at));",
      "if (codePoint === EMOJI_PRESENTATION) return true;",
    ],
    [
      "TXT-08",
      "U+FE0F passes nowhere.",
      "if (codePoint === EMOJI_PRESENTATION) return isIn(EMOJI, codePointBefore(text, at));",
      "",
    ],
    [
      "TXT-09",
      "U+200D joins no pictographs.",
      "return joinsPictographs(text, at) || joinsWord(text, at);",
      "return joinsWord(text, at);",
    ],
    [
      "TXT-09",
      "U+200D joins a pictograph to anything.",
      "if (!isIn(PICTOGRAPHS, codePointAt(text, at + 1))) return false;",
      "",
    ],
    [
      "TXT-09",
      "No skin tone may stand before the joiner.",
      "before !== EMOJI_PRESENTATION && !isIn(SKIN_TONES, before)",
      "before !== EMOJI_PRESENTATION",
    ],
    [
      "TXT-09",
      "No U+FE0F may stand before the joiner.",
      "before !== EMOJI_PRESENTATION && !isIn(SKIN_TONES, before)",
      "!isIn(SKIN_TONES, before)",
    ],
    [
      "TXT-10",
      "U+200C joins no word.",
      "return codePoint === ZERO_WIDTH_NON_JOINER && joinsWord(text, at);",
      "return codePoint === NONE;",
    ],
    ["TXT-10", "A joiner may end a word.", "if (!isIn(JOINED_SCRIPTS, codePointAt(text, at + 1))) return false;", ""],
    ["TXT-10", "A joiner may begin a word.", "return isIn(JOINED_SCRIPTS, before);", "return true;"],
    [
      "TXT-10",
      "No mark may stand before a joiner.",
      "while (isIn(MARKS, before) && isIn(JOINED_SCRIPTS, before)) {",
      "while (before === NONE - 1) {",
    ],
    ["TXT-11", "9 combining marks in a row pass.", "const MAX_MARKS = 8;", "const MAX_MARKS = 9;"],
    ["TXT-11", "8 combining marks in a row are too many.", "const MAX_MARKS = 8;", "const MAX_MARKS = 7;"],
    ["TXT-11", "A joiner ends a row of marks.", "} else if (!isJoiner(codePoint)) {", "} else {"],

    [
      "TXT-12",
      "A hidden character is told before a lone surrogate.",
      "findLoneSurrogate(text) ?? findBlank(text) ?? textFaults(text).next().value;",
      "findBlank(text) ?? textFaults(text).next().value;",
    ],
    [
      "TXT-03",
      "A character outside the BMP counts 6 bytes.",
      "if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(at + 1))) at += 1;\n    }",
      "}",
    ],
    [
      "TXT-13",
      "What is White_Space is the runtime's to say.",
      "if (!isIn(WHITE_SPACE, text.charCodeAt(at))) return undefined;",
      "if (!/\\s/.test(text.charAt(at))) return undefined;",
    ],
    [
      "TXT-07",
      "A newline is hidden in a text that is not ASCII.",
      "} else if (isIn(HIDDEN, codePoint) && !isInPlace",
      "} else if ((codePoint === 0x0a || isIn(HIDDEN, codePoint)) && !isInPlace",
    ],
    [
      "TXT-07",
      "A tab is hidden in a text that is not ASCII.",
      "} else if (isIn(HIDDEN, codePoint) && !isInPlace",
      "} else if ((codePoint === 0x09 || isIn(HIDDEN, codePoint)) && !isInPlace",
    ],
    [
      "TXT-12",
      "A hidden character is told before that the text is blank.",
      "findBlank(text) ?? textFaults(text).next().value;",
      "textFaults(text).next().value ?? findBlank(text);",
    ],
  ]),
  ...faultsOf("protocol/fields.ts", "unit/protocol/requests", [
    ["TXT-01", "A text is not held against the policy.", "if (bad !== undefined) return { detail: bad.detail };", ""],
    ["TXT-03", "A text of exactly its limit is too long.", "return bytes > maxBytes ?", "return bytes >= maxBytes ?"],
    [
      "TXT-03",
      "A reason may be as long as a summary.",
      "textOf(LIMITS.reason_bytes);",
      "textOf(LIMITS.summary_bytes);",
    ],
    [
      "TXT-03",
      "A last_action may be as long as a message.",
      "textOf(LIMITS.last_action_bytes);",
      "textOf(LIMITS.message_bytes);",
    ],
  ]),
  ...faultsOf("protocol/valid-requests.ts", "unit/protocol/requests property/valid-requests.property", [
    ["TXT-01", "The message of a correct is not held against the policy.", "checkText(value) === undefined && ", ""],
    [
      "TXT-03",
      "The summary of an ack may be of any length.",
      "isText(summary, LIMITS.summary_bytes)",
      "isText(summary, Infinity)",
    ],
  ]),
  ...faultsOf("kernel/action.ts", "unit/kernel/status", [
    [
      "TXT-02",
      "Blanks round a last_action are cut.",
      "after.last_action = unchanged(before?.last_action, command.last_action);",
      'after.last_action = { ...command.last_action, text: command.last_action.text?.trim() ?? "" };',
    ],
  ]),
  ...faultsOf("kernel/views.ts", "unit/kernel/delivery", [
    [
      "TXT-02",
      "A message is delivered normalised.",
      "message: message.text,\n",
      "message: message.text.normalize().trim(),\n",
    ],
  ]),
];
