/** Times and waits, as providers write them. A moment is in nanoseconds since 1970, a span in nanoseconds as well. */

import { named } from './table.js';
import { tables } from './tables.js';
import { capital, isWord, lower, trimRight } from './text.js';

export type Moment = bigint;

const SECOND = 1_000_000_000;
const MAX_DELAY = tables.limits.delayMs * 1_000_000;
const YEAR_ONE = -62_135_596_800n * 1_000_000_000n;
const YEAR_10000 = 253_402_300_800n * 1_000_000_000n;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

/** A number as people and programs write it; NaN where it is none, or too large for one. */
export function decimal(value: string): number {
  if (!/^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(value)) {
    return NaN;
  }
  const n = Number(value);
  return Number.isFinite(n) ? n : NaN;
}

/** Nanoseconds of so many seconds, 0 where it is no sensible wait. */
export function seconds(n: number): number {
  return n > 0 && n <= MAX_DELAY / SECOND ? Math.trunc(n * 1e9) : 0;
}

/** Milliseconds, rounded up so that a wait never becomes none; 0 where it is no sensible wait. */
export function bounded(ns: number | bigint): number {
  return ns > 0 && ns <= MAX_DELAY ? Math.ceil(Number(ns) / 1_000_000) : 0;
}

const durationUnits: ReadonlyMap<string, number> = new Map([
  ['ns', 1], ['us', 1000], ['µs', 1000], ['μs', 1000], ['ms', 1_000_000], ['s', SECOND], ['m', 60 * SECOND], ['h', 3600 * SECOND],
]);

/** Reads "40s", "6m0s", "900ms", "34.07s" or plain seconds. */
export function duration(value: string): number {
  return goDuration(lower(value)) ?? seconds(decimal(value));
}

function goDuration(value: string): number | undefined {
  const negative = value.startsWith('-');
  const text = negative || value.startsWith('+') ? value.slice(1) : value;
  if (text === '0') {
    return 0;
  }
  const part = /([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)/y;
  let total = 0;
  let end = 0;
  for (let match = part.exec(text); match; match = part.exec(text)) {
    const [, whole = '', fraction = '', name = ''] = match;
    if (whole === '' && fraction === '') {
      return undefined;
    }
    const unit = durationUnits.get(name) ?? 0;
    const digits = fraction.slice(0, 18);
    total += Number(whole) * unit + Math.trunc(Number(digits) * (unit / 10 ** digits.length));
    end = part.lastIndex;
  }
  if (end === 0 || end < text.length || total > 2 ** 63) {
    return undefined;
  }
  return negative ? -total : total;
}

function moment(
  year: number, month: number, day: number, hour: number, minute: number, second: number, fraction = '', offset = 0,
): Moment | undefined {
  if (month < 1 || month > 12 || day < 1 || day > monthDays(year, month) || hour > 23 || minute > 59 || second > 59) {
    return undefined;
  }
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  return BigInt(date.getTime() - offset * 1000) * 1_000_000n + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}

function monthDays(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (leap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

export function momentOf(at: Date | undefined): Moment | undefined {
  return at && !Number.isNaN(at.getTime()) ? BigInt(at.getTime()) * 1_000_000n : undefined;
}

/** Whether it is a time that can be written: Go's zero time is none. */
export function isMoment(at: Moment | undefined): at is Moment {
  return at !== undefined && at > YEAR_ONE && at < YEAR_10000;
}

export function rfc3339(value: string): Moment | undefined {
  const match =
    /^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-][0-9]{2}):([0-9]{2}))$/.exec(value);
  if (!match) {
    return undefined;
  }
  const [, year, month, day, hour, minute, second, fraction, hours, minutes] = match;
  const offset = hours === undefined ? 0 : offsetOf(hours, minutes ?? '');
  if (offset === undefined) {
    return undefined;
  }
  return moment(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second), fraction, offset);
}

/** Seconds east of Greenwich. */
function offsetOf(hours: string, minutes: string): number | undefined {
  const h = Math.abs(Number(hours));
  const m = Number(minutes);
  return h > 24 || m > 60 ? undefined : (h * 3600 + m * 60) * (hours.startsWith('-') ? -1 : 1);
}

/** The same of a zone: one that is known by its name alone counts as Greenwich. */
function zoneOffset(name: string): number | undefined {
  const match = /^(?:(GMT)?([+-][0-9]{1,2})|[A-Z]{3}|[A-Z]{3,4}T|WITA|ChST|MeST)$/.exec(name);
  const shift = Number(match?.[2] ?? 0);
  return !match || Math.abs(shift) > 23 ? undefined : match[1] ? shift * 3600 : 0;
}

const CLOCK = '([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?';
const httpDates = [
  new RegExp(`^([A-Za-z]{3}), +([0-9]{2}) +([A-Za-z]{3}) +([0-9]{4}) +${CLOCK} +([A-Za-z]{3,5}|GMT[+-][0-9]{1,2}|[+-][0-9]{1,2})$`),
  new RegExp(`^([A-Za-z]{3}), +([0-9]{2}) +([A-Za-z]{3}) +([0-9]{4}) +${CLOCK} +([+-][0-9]{2})([0-9]{2})$`),
  new RegExp(`^([A-Za-z]{6,9}), +([0-9]{2})-([A-Za-z]{3})-([0-9]{2}) +${CLOCK} +([A-Za-z]{3,5}|GMT[+-][0-9]{1,2}|[+-][0-9]{1,2})$`),
];
const ansi = new RegExp(`^([A-Za-z]{3}) +([A-Za-z]{3}) +([0-9]{1,2}) +${CLOCK} +([0-9]{4})$`);

/** A date of an HTTP header, in any of its forms. */
export function httpDate(value: string): Moment | undefined {
  for (const [form, pattern] of httpDates.entries()) {
    const match = pattern.exec(value);
    if (match) {
      const [, weekday = '', day, month = '', year, hour, minute, second, fraction, zone = '', minutes] = match;
      const offset = minutes === undefined ? zoneOffset(zone) : offsetOf(zone, minutes);
      const full = form === 2 ? Number(year) + (Number(year) >= 69 ? 1900 : 2000) : Number(year);
      if (offset !== undefined && isDay(weekday, form === 2)) {
        return ofMonth(full, month, day, hour, minute, second, fraction, offset);
      }
    }
  }
  const match = ansi.exec(value);
  if (!match || !isDay(match[1] ?? '', false)) {
    return undefined;
  }
  const [, , month = '', day, hour, minute, second, fraction, year] = match;
  return ofMonth(Number(year), month, day, hour, minute, second, fraction, 0);
}

function isDay(name: string, full: boolean): boolean {
  return DAYS.some((day) => (full ? day : day.slice(0, 3)) === name.toLowerCase());
}

type Digits = string | undefined;

function ofMonth(year: number, month: string, day: Digits, hour: Digits, minute: Digits, second: Digits, fraction: Digits, offset: number): Moment | undefined {
  const number = MONTHS.indexOf(month.toLowerCase()) + 1;
  return moment(year, number, Number(day), Number(hour), Number(minute), Number(second), fraction, offset);
}

// Spoken waits and dates.

const units = named(tables.hints.units);

/** The delay that text at `from` begins with: 9.816s, 6m0s, 2 minutes, 1h 5m. */
export function leadingDelay(text: string, from: number): number {
  const number = / *([0-9.]{0,32})/y;
  const unit = / *([a-z]{0,32})/y;
  let total = 0;
  number.lastIndex = from;
  for (let i = 0; i < 4; i++) {
    const n = decimal(trimRight(number.exec(text)?.[1] ?? '', '.'));
    unit.lastIndex = number.lastIndex;
    const factor = units.get(unit.exec(text)?.[1] ?? '');
    if (Number.isNaN(n) || factor === undefined) {
      break;
    }
    number.lastIndex = unit.lastIndex;
    total += seconds(n * factor);
  }
  return total;
}

const DAY = '^([0-9]{4})-([0-9]{2})-([0-9]{2})';
const HOUR = '([0-9]{1,2}):([0-9]{2})';
const ZONE = '(GMT[+-][0-9]{1,2}|[+-][0-9]{1,2}|[A-Z]{3,5})';
/** Each with its length in a text, which is that of Go's layout. */
const spokenDates = ([
  [`${DAY} +AT +${HOUR}() +${ZONE}$`, 23],
  [`${DAY} +${HOUR}:([0-9]{2}) +${ZONE}$`, 23],
  [`${DAY} +${HOUR}() +${ZONE}$`, 20],
  [`${DAY}T${HOUR}:([0-9]{2})([+-][0-9]{2}):([0-9]{2})$`, 25],
  [`${DAY}T${HOUR}:([0-9]{2})Z$`, 20],
  [`${DAY} +AT +${HOUR}$`, 19],
  [`${DAY} +${HOUR}:([0-9]{2})$`, 19],
  [`${DAY} +${HOUR}$`, 16],
  [`${DAY}$`, 10],
] as const).map(([form, length]) => ({ pattern: new RegExp(form), length }));

/** The date that text at `from` begins with. */
export function leadingDate(text: string, from: number): Moment | undefined {
  const upper = [...text.slice(from, from + 26)].map(capital).join('');
  for (const { pattern, length } of spokenDates) {
    const match = pattern.exec(upper.slice(0, length));
    if (!match || upper.length < length || isWord(upper.charAt(length))) {
      continue;
    }
    const [, year, month, day, hour, minute, second, zone, minutes] = match;
    const offset = zone === undefined ? 0 : minutes === undefined ? zoneOffset(zone) : offsetOf(zone, minutes);
    const at =
      offset === undefined
        ? undefined
        : moment(Number(year), Number(month), Number(day), Number(hour ?? 0), Number(minute ?? 0), Number(second ?? 0), '', offset);
    if (at !== undefined) {
      return at;
    }
  }
  return undefined;
}
