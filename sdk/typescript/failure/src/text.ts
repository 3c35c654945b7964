/** Text: bounded, valid, plain, and fit for people. Limits are in bytes of UTF-8, as in Go. */

import { named } from './table.js';
import { entities as entityTable, texts } from './texts.js';

const SPACE = '\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';

/** Text of which every run of bytes or surrogates that are no character is one U+FFFD. */
export function valid(text: string | Uint8Array): string {
  return typeof text === 'string' ? text.replace(/\p{Surrogate}+/gu, '\ufffd') : decoded(text);
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return decodedByHand(bytes);
  }
}

/** TextDecoder has other ideas of how many U+FFFD stand for a run of bad bytes. */
function decodedByHand(bytes: Uint8Array): string {
  const pieces: string[] = [];
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let i = 0;
  while (i < bytes.length) {
    const start = i;
    while (i < bytes.length && charLength(bytes, i) > 0) {
      i += charLength(bytes, i);
    }
    pieces.push(decoder.decode(bytes.subarray(start, i)));
    const bad = i;
    while (i < bytes.length && charLength(bytes, i) === 0) {
      i++;
    }
    if (i > bad) {
      pieces.push('\ufffd');
    }
  }
  return pieces.join('');
}

/** The length of the character that begins at i, 0 where none does. */
function charLength(bytes: Uint8Array, i: number): number {
  const first = bytes[i] ?? 0;
  if (first < 0x80) {
    return 1;
  }
  const second = bytes[i + 1] ?? 0;
  const follows = (at: number) => ((bytes[i + at] ?? 0) & 0xc0) === 0x80;
  if (first >= 0xc2 && first <= 0xdf) {
    return follows(1) ? 2 : 0;
  }
  if (first >= 0xe0 && first <= 0xef) {
    const overlong = first === 0xe0 && second < 0xa0;
    const surrogate = first === 0xed && second > 0x9f;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const overlong = first === 0xf0 && second < 0x90;
    const beyond = first === 0xf4 && second > 0x8f;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

/** How many bytes the code unit at i takes: a half of a pair takes half of its four. */
function unitSize(text: string, i: number): number {
  const unit = text.charCodeAt(i);
  return unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3;
}

export function size(text: string): number {
  let n = 0;
  for (let i = 0; i < text.length; i++) {
    n += unitSize(text, i);
  }
  return n;
}

/** As many whole characters from the beginning as n bytes hold. */
export function head(text: string, n: number): string {
  let i = 0;
  for (let left = n; i < text.length; i++) {
    left -= unitSize(text, i);
    if (left < 0) {
      break;
    }
  }
  const last = text.charCodeAt(i - 1);
  return text.slice(0, i < text.length && last >= 0xd800 && last <= 0xdbff ? i - 1 : i);
}

/** Text of at most n bytes, which ends in "…" where it was cut. */
export function clip(text: string, n: number): string {
  return text.length * 3 <= n || (text.length <= n && size(text) <= n) ? text : head(text, n - 3) + '…';
}

/** Each character's own small letter: no rule of a language, and never two for one. */
export function lower(text: string): string {
  return text.replaceAll('\u0130', 'i').replaceAll('Σ', 'σ').toLowerCase();
}

export function trim(text: string): string {
  return trimRight(trimLeft(text, SPACE), SPACE);
}

export function trimLeft(text: string, chars: string): string {
  let i = 0;
  while (i < text.length && chars.includes(text.charAt(i))) {
    i++;
  }
  return text.slice(i);
}

export function trimRight(text: string, chars: string): string {
  let i = text.length;
  while (i > 0 && chars.includes(text.charAt(i - 1))) {
    i--;
  }
  return text.slice(0, i);
}

const spaces = new RegExp(`[${SPACE}]+`);

function words(text: string): string {
  return text.split(spaces).filter((word) => word !== '').join(' ');
}

/** The lines of text, each with its end. */
export function lines(text: string): string[] {
  const parts = text.split('\n');
  const last = parts.pop() ?? '';
  const whole = parts.map((part) => part + '\n');
  return last === '' ? whole : [...whole, last];
}

export function isWord(char: string): boolean {
  return /^[A-Za-z0-9_]$/.test(char);
}

/** One line without control characters. */
export function tidy(text: string): string {
  return words(text.replace(/[\0-\x1f\x7f-\x9f\u2028\u2029]/g, ' '));
}

function isTidy(text: string): boolean {
  return text !== '' && tidy(text) === text;
}

export function capital(text: string): string {
  const first = String.fromCodePoint(text.codePointAt(0) ?? 0);
  const upper = first.toUpperCase();
  return text !== '' && [...upper].length === 1 ? upper + text.slice(first.length) : text;
}

/** Begins with a capital and ends with a full stop. */
export function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? capital(text) : capital(text) + '.';
}

/** A duration for people: 2 min, 30 min 2 s, 250 ms. */
export function spell(ms: number): string {
  if (ms < 1000) {
    return `${ms} ms`;
  }
  let left = Math.floor((ms + 500) / 1000);
  const parts: string[] = [];
  for (const [unit, name] of [[3600, 'h'], [60, 'min'], [1, 's']] as const) {
    const n = Math.floor(left / unit);
    if (n > 0) {
      parts.push(`${n} ${name}`);
      left -= n * unit;
    }
  }
  return parts.slice(0, 2).join(' ');
}

/** 12345 is "12,345"; nothing is "". */
export function counted(n: number): string {
  return n > 0 ? String(n).replace(/(?!^)(?=(?:[0-9]{3})+$)/g, ',') : '';
}

// Markup.

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

// Stacks and keys.

/** Leaves out the lines in which a program says where it was. */
export function withoutStack(text: string): string {
  if (!text.includes('\n')) {
    return text;
  }
  const kept: string[] = [];
  for (const line of lines(text)) {
    if (line.startsWith('goroutine ') && line.includes('[')) {
      break;
    }
    if (!isStackLine(line)) {
      kept.push(line);
    }
  }
  return kept.join('');
}

function isStackLine(line: string): boolean {
  const bare = trim(line);
  return (
    (bare.startsWith('at ') && (line.startsWith(' ') || line.startsWith('\t') || bare.endsWith(')'))) ||
    bare.startsWith('Traceback (most recent call last)') ||
    (bare.startsWith('File "') && bare.includes(', line '))
  );
}

const stackTail = new RegExp(texts.stackTail);

/** Somebody else's words, fit to stand in a sentence. */
export function shown(text: string): string {
  if (isTidy(text) && size(text) < texts.minKey && !text.includes('<')) {
    return text;
  }
  const line = tidy(plain(withoutStack(text)));
  const cut = line.search(stackTail);
  return withoutKeys(cut < 0 ? line : trim(line.slice(0, cut)));
}

const token = /[A-Za-z0-9_\-.+*]+/y;
const userinfo = /:\/\/[^@/ "]*@/y;

function matchAt(pattern: RegExp, text: string, i: number): string {
  pattern.lastIndex = i;
  return pattern.exec(text)?.[0] ?? '';
}

function withoutKeys(text: string): string {
  const out: string[] = [];
  let kept = 0;
  let bearer = false;
  for (let i = 0; i < text.length; ) {
    const found = matchAt(token, text, i);
    if (found === '') {
      bearer &&= ' :'.includes(text.charAt(i));
      const user = matchAt(userinfo, text, i);
      if (user !== '') {
        out.push(text.slice(kept, i), '://…@');
        kept = i + user.length;
      }
      i += user.length || 1;
      continue;
    }
    if (found.length >= texts.minKey && (bearer || texts.keyPrefixes.some((prefix) => found.startsWith(prefix)))) {
      out.push(text.slice(kept, i), '…');
      kept = i + found.length;
      bearer = false;
    } else {
      bearer = found.toLowerCase() === 'bearer';
    }
    i += found.length;
  }
  return out.join('') + text.slice(kept);
}

const providers = named(texts.providers);

function provider(entry: string): readonly string[] | undefined {
  if (size(entry) > 200) {
    return undefined;
  }
  for (let name = lower(entry); ; ) {
    const known = providers.get(name);
    if (known) {
      return known;
    }
    const end = Math.max(...[...'-_.:@ '].map((mark) => name.lastIndexOf(mark)));
    if (end < 0) {
      return undefined;
    }
    name = name.slice(0, end);
  }
}

/** How people call the provider behind an entry: "openai-work" is OpenAI. */
export function providerName(entry: string): string {
  return provider(entry)?.[0] ?? entry;
}

/** The status page of the provider behind an entry, "" where none is known. */
export function statusUrl(entry: string): string {
  return provider(entry)?.[1] ?? '';
}
