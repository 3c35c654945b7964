/** Text: bounded, valid, plain, and fit for people. Limits are in bytes of UTF-8, as in Go. */

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

export function words(text: string): string {
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

export function isTidy(text: string): boolean {
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
