/** What a person would read of text that may be HTML. */

import { named } from './table.js';
import { trim, words } from './text.js';
import { entities as entityTable } from './texts.js';

const entities = named(entityTable);
const windows =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
  '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';
const LONGEST_BARE = 6;

/** What HTML's references to characters stand for, as Go's package html reads them. */
export function unescape(text: string): string {
  const out: string[] = [];
  let kept = 0;
  for (let at = text.indexOf('&'); at >= 0; ) {
    const [value, end] = text[at + 1] === '#' ? numbered(text, at) : reference(text, at);
    if (end > at) {
      out.push(text.slice(kept, at), value);
      kept = end;
    }
    at = text.indexOf('&', Math.max(end, at + 1));
  }
  return out.join('') + text.slice(kept);
}

const reading = /[A-Za-z0-9]+;?/y;

function reference(text: string, at: number): [value: string, end: number] {
  reading.lastIndex = at + 1;
  const name = reading.exec(text)?.[0] ?? '';
  for (let n = name.length; n > 0; n = n === name.length ? Math.min(n - 1, LONGEST_BARE) : n - 1) {
    const value = n === name.length || n > 1 ? entities.get(name.slice(0, n)) : undefined;
    if (value !== undefined) {
      return [value, at + 1 + n];
    }
  }
  return ['', at];
}

function numbered(text: string, at: number): [value: string, end: number] {
  const hexadecimal = text[at + 2] === 'x' || text[at + 2] === 'X';
  if (text.length - at < 4) {
    return ['', at];
  }
  const digits = hexadecimal ? '0123456789abcdefABCDEF' : '0123456789';
  let i = hexadecimal ? at + 3 : at + 2;
  let x = 0;
  for (; i < text.length && digits.includes(text.charAt(i)); i++) {
    x = (x * (hexadecimal ? 16 : 10) + parseInt(text.charAt(i), 16)) >>> 0;
  }
  if (text[i] === ';') {
    i++;
  }
  if (i - at <= 3) {
    return ['', at];
  }
  if (x >= 0x80 && x <= 0x9f) {
    return [windows.charAt(x - 0x80), i];
  }
  return [x === 0 || (x >= 0xd800 && x <= 0xdfff) || x > 0x10ffff ? '\ufffd' : String.fromCodePoint(x), i];
}

/** What a person would read of text that may be HTML. */
export function plain(text: string): string {
  return text.includes('<') ? words(withoutTags(unescape(withoutTags(text)))) : trim(text);
}

function isScript(text: string, at: number): boolean {
  return /^(?:script|style)/i.test(text.slice(at + 1, at + 7));
}

/** Where the script or style that began before `at` is over. */
function afterScript(text: string, at: number): number {
  const closing = text.indexOf('</', at);
  return closing < 0 ? text.length : closing;
}

/** Puts a space in the place of every tag, and of what a script or style holds. */
function withoutTags(text: string): string {
  const out: string[] = [];
  for (let at = 0; at < text.length; ) {
    const begin = text.indexOf('<', at);
    if (begin < 0) {
      out.push(text.slice(at));
      break;
    }
    out.push(text.slice(at, begin));
    if (!/[/!?A-Za-z]/.test(text.charAt(begin + 1))) {
      out.push('<');
      at = begin + 1;
      continue;
    }
    const end = text.indexOf('>', begin);
    if (end < 0) {
      break;
    }
    at = isScript(text, begin) ? afterScript(text, end + 1) : end + 1;
    out.push(' ');
  }
  return out.join('');
}

/** Leaves out scripts and styles alone, so that JSON in a page stays as it is. */
export function withoutScripts(text: string): string {
  const out: string[] = [];
  for (let at = 0; ; ) {
    const begin = text.indexOf('<', at);
    if (begin < 0) {
      return out.join('') + text.slice(at);
    }
    out.push(text.slice(at, begin));
    if (isScript(text, begin)) {
      at = afterScript(text, begin + 1);
    } else {
      out.push('<');
      at = begin + 1;
    }
  }
}
