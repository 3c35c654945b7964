/** The figures of a request that is too long, in whatever words they are told. */

import { tables } from './tables.js';

const { sizes } = tables;
const times: Readonly<Record<string, number>> = { '': 1, k: 1000, m: 1_000_000 };

interface Figure {
  readonly start: number;
  readonly end: number;
  readonly n: number;
}

/** Whether text, in lower case, gives a bound of tokens and a larger number of them. */
export function isOverflow(text: string): boolean {
  if (!sizes.names.some((name) => text.includes(name)) || sizes.unless.some((word) => text.includes(word))) {
    return false;
  }
  const found = figures(text);
  let has = 0;
  let takes = 0;
  for (const [i, { start, end, n }] of found.entries()) {
    const next = found[i + 1];
    const after = text.slice(end, next?.start ?? text.length);
    const names = next !== undefined && sizes.after.includes(after.replace(/[ =:(]+$/, '')); // limit=200000
    if (!isBound(text.slice(found[i - 1]?.end ?? 0, start), names ? '' : after)) {
      has = Math.max(has, n);
    } else if (takes === 0 || n < takes) {
      takes = n;
    }
  }
  return takes > 0 && has > takes;
}

function figures(text: string): Figure[] {
  const found: Figure[] = [];
  for (const match of text.matchAll(/([0-9]+(?:[,_][0-9]+)*)(?:(?:\.([0-9]{1,3}))?([km]))?/g)) {
    const [whole, digits = '', decimals = '', unit = ''] = match;
    const end = match.index + whole.length;
    const scale = times[unit] ?? 1;
    const n = digits.length <= 12 ? Number(digits.replace(/[,_]/g, '')) * scale + (Number(decimals.padEnd(3, '0')) * scale) / 1000 : 0;
    const joined = /[A-Za-z_./:#$-]$/.test(text.slice(Math.max(match.index - 1, 0), match.index)) || /^(?:[A-Za-z_%]|[./:-][0-9])/.test(text.slice(end, end + 2));
    if (n >= sizes.min && n <= sizes.max && !joined) {
      found.push({ start: match.index, end, n });
    }
  }
  return found;
}

function isBound(before: string, after: string): boolean {
  const clause = before.split(/[,.;\n]/).at(-1) ?? '';
  return sizes.bounds.some((word) => clause.includes(word)) || sizes.after.some((word) => after.startsWith(word));
}
