/** Reads text as JSON is written, whoever wrote it: strings in any quotes, names of members, what stands within brackets. */

import { tables } from './tables.js';
import { size, trim } from './text.js';

const { limits } = tables;
/** What JSON calls white space. */
export const WHITE = ' \n\r\t';
const labels = new Set(['type', 'role', 'id', 'status', 'object', 'phase']);

export function skipSpace(text: string, at: number): number {
  let i = at;
  while (i < text.length && WHITE.includes(text.charAt(i))) {
    i++;
  }
  return i;
}

/** The inside of the string that begins at i, still escaped, and the place after it. */
export function quoted(text: string, i: number): { inside: string; end: number } {
  const mark = text.charCodeAt(i);
  const double = mark === 0x22;
  for (let end = i + 1; end < text.length; end++) {
    const unit = text.charCodeAt(end);
    if (unit === 0x5c) {
      end++;
    } else if (unit === mark && (double || closes(text, end + 1))) {
      return { inside: text.slice(i + 1, end), end: end + 1 };
    }
  }
  return { inside: text.slice(i + 1), end: text.length };
}

/** Whether a single quote before `at` ends a string: those who print one by hand do not escape an apostrophe. */
function closes(text: string, at: number): boolean {
  const i = skipSpace(text, at);
  return i === text.length || ',:}])'.includes(text.charAt(i));
}

/** Reads the name of a member at i, and gives the place of its value. */
export function keyAt(text: string, i: number, before: string): { name: string; end: number; found: boolean } {
  let name: string;
  let end: number;
  if (text[i] === '"') {
    ({ inside: name, end } = quoted(text, i));
  } else if (before !== '{' && before !== ',') {
    return { name: '', end: i, found: false };
  } else if (text[i] === "'") {
    end = text[i + 1] === ':' ? i + 2 : i + 1;
    end += wordLength(text, end);
    if (text[end] !== "'") {
      return { name: '', end: i, found: false };
    }
    name = text.slice(i + 1, end);
    end++;
  } else {
    end = i + wordLength(text, i);
    name = text.slice(i, end);
  }
  const colon = skipSpace(text, end);
  if (name === '' || text[colon] !== ':') {
    return { name, end, found: false };
  }
  return { name, end: skipSpace(text, colon + 1), found: true };
}

const word = /[A-Za-z0-9_\-@]{0,64}/y;

export function wordLength(text: string, i: number): number {
  word.lastIndex = i;
  return word.exec(text)?.[0].length ?? 0;
}

/** The place after the object or array that begins at `at`. */
export function skipNested(text: string, at: number): number {
  let level = 0;
  for (let i = at; i < text.length; ) {
    const char = text.charAt(i);
    if (char === '"' || char === "'") {
      i = quoted(text, i).end;
      continue;
    }
    i++;
    if (char === '{' || char === '[') {
      level++;
    } else if (char === '}' || char === ']') {
      level--;
      if (level === 0) {
        return i;
      }
    }
  }
  return text.length;
}

const escapes = /\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([^])/gu;

/** Resolves JSON escapes; one that is none stands for the character itself. */
export function unquote(raw: string): string {
  return raw.replace(escapes, (_, high?: string, low?: string, single?: string, char?: string) => {
    if (high !== undefined && low !== undefined) {
      return String.fromCharCode(parseInt(high, 16), parseInt(low, 16));
    }
    if (single !== undefined) {
      return valueOf(parseInt(single, 16));
    }
    if (char === 'u') {
      return '\ufffd';
    }
    return char === 'n' ? '\n' : char !== undefined && 'rtbf'.includes(char) ? ' ' : (char ?? '');
  });
}

function valueOf(unit: number): string {
  return unit >= 0xd800 && unit <= 0xdfff ? '\ufffd' : String.fromCharCode(unit);
}

/** Whether an object or array of an answer holds no text, call or picture. */
export function saysNothing(span: string): boolean {
  if (size(span) > limits.blank) {
    return false;
  }
  let before = '';
  for (let i = 0; i < span.length; ) {
    const char = span.charAt(i);
    const key = keyAt(span, i, before);
    if (key.found && labels.has(key.name) && (span[key.end] === '"' || span[key.end] === "'")) {
      i = quoted(span, key.end).end;
    } else if (key.found) {
      i = key.end;
    } else if (char === '"' || char === "'") {
      const { inside, end } = quoted(span, i);
      if (trim(inside) !== '') {
        return false;
      }
      i = end;
    } else {
      i++;
    }
    before = char;
  }
  return true;
}
