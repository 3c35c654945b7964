/** When a provider wants to be asked again. */

import type { Told } from './body.js';
import type { Reading } from './reading.js';
import { tables } from './tables.js';
import { lower } from './text.js';
import { bounded, decimal, duration, httpDate, isMoment, leadingDate, leadingDelay, rfc3339, seconds, type Moment } from './times.js';

const { hints, limits } = tables;

/** A wait in milliseconds (0: not said), a time, or both. */
export interface Hint {
  readonly after: number;
  readonly at?: Moment;
}

const none: Hint = { after: 0 };

/** The longer wait and the later time of both. */
function later(one: Hint, other: Hint): Hint {
  const at = isMoment(other.at) && (one.at === undefined || other.at > one.at) ? other.at : one.at;
  return { after: Math.max(one.after, other.after), ...(at === undefined ? {} : { at }) };
}

/**
 * When to come back, of a failure of this kind. Reset headers say when an allowance is full again, so they mean something
 * only where one was used up. Beside a used-up day Google repeats the wait of its limit per minute, which is not meant.
 */
export function comeBack(c: Reading, kind: string, daily: boolean): Hint {
  let hint = later({ after: millis(c.header('retry-after-ms')) }, { after: retryAfter(c.header('retry-after'), c.now) });
  const inBody = [fieldHint(c.body.delay), fieldHint(c.body.after), { after: spokenHint(c, kind) }].reduce(later);
  if (!daily || inBody.after > limits.longDelayMs) {
    hint = later(hint, inBody);
  }
  const said = spokenDate(c);
  if (said !== undefined) {
    hint = later(hint, hintAt(c, said));
  }
  if (hint.after === 0 && (kind === 'rate_limit' || kind === 'quota')) {
    hint = later(hint, resetHint(c));
  }
  if (kind !== 'quota') {
    return { after: hint.after };
  }
  if (hint.at === undefined && hint.after > 0 && c.now !== undefined) {
    return { after: hint.after, at: c.now + BigInt(hint.after) * 1_000_000n };
  }
  return hint;
}

function millis(value: string): number {
  return bounded(seconds(decimal(value) / 1000));
}

/** Reads seconds, whole or not, or an HTTP date. */
function retryAfter(value: string, now: Moment | undefined): number {
  const n = decimal(value);
  if (!Number.isNaN(n)) {
    return bounded(seconds(n));
  }
  const at = httpDate(value);
  return at === undefined || now === undefined ? 0 : bounded(at - now);
}

/** Reads a field of the body: "40s", "900ms", or seconds unless its name says milliseconds. */
function fieldHint(field: Told): Hint {
  return { after: lower(field.name).endsWith('ms') ? millis(field.value) : bounded(duration(field.value)) };
}

/**
 * Reads the wording. "after 30 s" alone may as well say how long it took, so it counts only where a limit or a full server
 * is at fault.
 */
export function spokenHint(c: Reading, kind: string): number {
  const limited = kind === 'rate_limit' || kind === 'quota' || kind === 'overloaded';
  return bounded(Math.max(spokenDelay(c.text, hints.delayLeads), limited ? spokenDelay(c.text, hints.looseDelayLeads) : 0));
}

function spokenDelay(text: string, leads: readonly string[]): number {
  let longest = 0;
  for (const lead of leads) {
    for (let i = text.indexOf(lead); i >= 0; i = text.indexOf(lead, i)) {
      i += lead.length;
      longest = Math.max(longest, leadingDelay(text, i));
    }
  }
  return longest;
}

/** Finds "regain access on 2026-04-01 at 00:00 UTC". */
function spokenDate(c: Reading): Moment | undefined {
  for (const lead of hints.dateLeads) {
    const i = c.text.indexOf(lead);
    const at = i < 0 ? undefined : leadingDate(c.text, i + lead.length);
    if (at !== undefined) {
      return at;
    }
  }
  return undefined;
}

/** The hint of a date: none where it is past, or too far away to be believed. */
function hintAt(c: Reading, at: Moment): Hint {
  if (c.now === undefined) {
    return isMoment(at) ? { after: 0, at } : none;
  }
  const until = at - c.now;
  return until <= 0n || until > BigInt(limits.resetMs) * 1_000_000n ? none : { after: bounded(until), at };
}

/** Reads the headers and fields that say when a used-up allowance is full again. */
function resetHint(c: Reading): Hint {
  let hint = none;
  const names = [...c.headers.keys()].filter((name) => name.includes('ratelimit') && name.includes('reset'));
  for (const name of names.sort()) {
    const left = c.header(name.replace('reset', 'remaining'));
    const status = c.header(name.replace('reset', 'status'));
    if ((left === '' || left === '0') && !status.startsWith('allowed')) {
      hint = later(hint, parseReset(c, c.header(name)));
    }
  }
  return c.body.reset.value === '' ? hint : later(hint, parseReset(c, c.body.reset.value));
}

/** Reads RFC 3339, seconds or milliseconds since 1970, a duration, or seconds. */
function parseReset(c: Reading, value: string): Hint {
  let at = rfc3339(value);
  if (at === undefined) {
    const n = decimal(value);
    if (!(n > 1e9 && n < 1e13)) {
      return { after: bounded(duration(value)) };
    }
    at = BigInt(Math.trunc(n > 1e11 ? n / 1000 : n)) * 1_000_000_000n;
  }
  return c.now === undefined ? none : hintAt(c, at);
}
