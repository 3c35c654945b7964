/** Evidence, read once; and what matches in it. */

import { bare, isFrame, nameOf } from './bare.js';
import { Body, httpStatus, isName } from './body.js';
import { ADDRESS_MARK, addressEnd } from './causes.js';
import type { Evidence } from './evidence.js';
import { withoutStack } from './shown.js';
import type { Rule } from './table.js';
import { tables } from './tables.js';
import { clip, head, isWord, lower, size, trim, trimLeft, valid } from './text.js';
import { httpDate, momentOf, type Moment } from './times.js';

const { limits, spoken } = tables;

/**
 * Text in the form in which phrases are looked for: in lower case, with straight apostrophes, without the paths of
 * links; the address of an API is left as it is.
 */
function straightened(said: string): string {
  let text = lower(said).replace(/[’‘]/g, "'").replace(/[“”]/g, '"');
  let kept = '';
  for (let at = text.indexOf(ADDRESS_MARK); at >= 0; at = text.indexOf(ADDRESS_MARK)) {
    const begin = at + ADDRESS_MARK.length;
    const end = addressEnd(text, at);
    const address = text.slice(begin, end);
    const whole = tables.endpointMarks.some((mark) => address.includes(mark));
    kept += text.slice(0, begin) + (whole ? address : (address.split('/')[0] ?? ''));
    text = text.slice(end);
  }
  return kept + text;
}

/** One code of a body, header or message. */
export interface Code {
  readonly lower: string;
  readonly flat: string;
  readonly written: string;
  readonly inHeader: boolean;
}

/** RateLimitExceeded, rate-limit-exceeded and rate_limit_exceeded are one code. */
export function flat(code: string): string {
  return lower(code).replace(/[_\- ./:]/g, '');
}

export class Reading {
  readonly rawBody: string;
  readonly error: string | undefined;
  readonly headers: ReadonlyMap<string, string>;
  readonly now: Moment | undefined;
  readonly body: Body;
  readonly wire: string;
  readonly said: string;
  readonly bare: string;
  readonly text: string;
  readonly codes: readonly Code[];
  /** Of HTTP, or the one that the body names where HTTP says 200 or nothing. */
  readonly status: number;
  /** The status where no list has it: it is somebody's own, and says less than words. */
  readonly odd: number;
  /** The one that a bare message begins with or names. */
  readonly spoken: number;
  readonly phase: string;
  readonly #httpStatus: number;
  readonly #start: string;

  constructor(e: Evidence) {
    this.rawBody = valid(e.body ?? '');
    this.error = e.error === undefined ? undefined : valid(e.error);
    this.#start = e.body instanceof Uint8Array ? valid(e.body.subarray(0, limits.lead)) : head(this.rawBody, limits.lead);
    this.phase = e.phase ?? '';
    this.headers = headersOf(e.headers ?? {});
    this.now = httpDate(this.header('date')) ?? momentOf(e.at);
    const error = withoutStack(clip(this.error ?? '', limits.textScan));
    this.body = new Body(this.rawBody || (/[{[]/.test(error) ? error : ''));
    const wire = bare(clip(error, limits.words));
    const parts = this.body.words.map(bare);
    this.said = this.body.text;
    this.bare = (parts.length === 1 ? parts[0] : clip(parts.join('\n'), limits.words)) || wire;
    this.wire = straightened(wire);
    this.text = straightened(this.bare);
    const said = this.said || error;
    const name = isName(said) ? said : nameOf(said);
    const inHeader = this.header('x-amzn-errortype');
    this.codes = [
      ...this.body.codes.map((code) => codeOf(code, false)),
      ...(inHeader === '' ? [] : [codeOf(clip(inHeader.split(':', 1)[0] ?? '', 128), true)]),
      ...(name === '' ? [] : [codeOf(name, false)]),
    ];
    this.#httpStatus = e.status ?? 0;
    const silent = this.#httpStatus === 0 || this.succeeded;
    const status = this.body.status !== 0 && silent ? this.body.status : this.#httpStatus;
    const odd = tables.statuses[String(Math.min(status, 600))]?.odd === true;
    this.status = odd ? 0 : status;
    this.odd = odd ? status : 0;
    this.spoken = spokenStatus(this.text);
  }

  get succeeded(): boolean {
    return isSuccess(this.#httpStatus);
  }

  get streaming(): boolean {
    return this.phase === 'mid_stream' || this.phase === 'end_of_stream';
  }

  /** What came is a page, whatever it was called. */
  get isPage(): boolean {
    const came = this.rawBody === '' ? (this.error ?? '') : this.#start;
    return says(lower(came), ['<!doctype html', '<html']);
  }

  header(name: string): string {
    return this.headers.get(name) ?? '';
  }

  /** The first code that is one of these. */
  codeOf(codes: readonly string[]): Code | undefined {
    return codes.length === 0 ? undefined : this.codes.find((have) => codes.includes(have.flat) || codes.includes(have.lower));
  }

  /** The first code that is like one of these patterns: it has the pieces between their stars, in order. */
  codeLike(patterns: readonly string[]): Code | undefined {
    return this.codes.find((have) => size(have.written) <= limits.likeCode && patterns.some((pattern) => isLike(have.flat, pattern)));
  }

  /** Whether a rule matches what was said, and the code by which it does, "" where it is none. */
  match(rule: Rule, text: string): string | undefined {
    const { codes = [], like = [], any = [], near = [], all = [], unless = [] } = rule;
    if (rule.status && !rule.status.includes(this.status)) {
      return undefined;
    }
    const code = codes.length + like.length > 0 ? (this.codeOf(codes) ?? this.codeLike(like)) : none;
    const matches =
      code &&
      (any.length === 0 || claimsNear(text, any, near)) &&
      all.every((phrase) => claimedAt(text, phrase, 0) >= 0) &&
      !says(text, unless) &&
      !this.codeOf(unless);
    return matches ? code.lower : undefined;
  }
}

const none: Code = codeOf('', false);

function codeOf(written: string, inHeader: boolean): Code {
  return { lower: lower(written), flat: flat(written), written, inHeader };
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

function headersOf(headers: NonNullable<Evidence['headers']>): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  const put = (name: string, value: string) => {
    if (!known.has(lower(name))) {
      known.set(lower(name), trim(valid(value)));
    }
  };
  if (typeof headers.forEach === 'function') {
    (headers as Headers).forEach((value, name) => put(name, value));
    return known;
  }
  for (const [name, value] of Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string' || typeof first === 'number') {
      put(name, String(first));
    }
  }
  return known;
}

export function says(text: string, phrases: readonly string[]): boolean {
  return phrases.some((phrase) => text.includes(phrase));
}

/** Where a phrase is said of what happened: "this is not a rate limit" names one, and claims none. */
function claimedAt(text: string, phrase: string, from: number): number {
  let i = text.indexOf(phrase, from);
  while (i >= 0 && tables.denials.some((denial) => text.endsWith(denial, i))) {
    i = text.indexOf(phrase, i + phrase.length);
  }
  return i;
}

/** Whether one of the phrases is claimed, and soon after it one of near said, where there are any. */
function claimsNear(text: string, phrases: readonly string[], near: readonly string[]): boolean {
  if (near.length > 0 && !says(text, near)) {
    return false;
  }
  for (const phrase of phrases) {
    for (let i = claimedAt(text, phrase, 0); i >= 0; i = claimedAt(text, phrase, i)) {
      i += phrase.length;
      if (near.length === 0 || says(head(text.slice(i, i + limits.near), limits.near), near)) {
        return true;
      }
    }
  }
  return false;
}

function isLike(code: string, pattern: string): boolean {
  let at = 0;
  for (const piece of pattern.split('*')) {
    const i = code.indexOf(piece, at);
    if (i < 0) {
      return false;
    }
    at = i + piece.length;
  }
  return true;
}

// Statuses in words.

/**
 * The number that text begins with, that follows the name of a status field, that has its own name after it, or that
 * stands after the colon of an HTTP error; 0 where there is none. A number anywhere else is not a status.
 */
function spokenStatus(text: string): number {
  return leadStatus(text) || namedStatusOf(text) || phraseStatus(text);
}

function leadStatus(text: string): number {
  let lead = trimLeft(text, ' \n[(');
  for (let n = 0; n < limits.leads; n++) {
    const status = leadingStatus(withoutLeads(lead), 0);
    if (status !== 0) {
      return status;
    }
    const i = lead.slice(0, limits.lead).indexOf(': ');
    const before = lead.slice(0, Math.max(i, 0));
    if (i < 0 || size(before) + 2 > limits.lead || !endsLead(before)) {
      break;
    }
    lead = lead.slice(i + 2);
  }
  return 0;
}

function endsLead(text: string): boolean {
  return /(error|exception)$/.test(text) || (isFrame(text) && !text.endsWith('code'));
}

function withoutLeads(text: string): string {
  let bare = text;
  for (let n = 0; n < 2; n++) {
    for (const lead of spoken.leads) {
      if (bare.startsWith(lead)) {
        bare = bare.slice(lead.length);
      }
    }
  }
  return bare;
}

function namedStatusOf(text: string): number {
  for (const name of spoken.names) {
    const status = namedStatus(text, name);
    if (status !== 0) {
      return status;
    }
  }
  return 0;
}

function namedStatus(text: string, name: string): number {
  for (let start = 0; ; ) {
    const i = text.indexOf(name, start);
    if (i < 0) {
      return 0;
    }
    const whole = i === start || !isWord(text.charAt(i - 1)) || text.charAt(i - 1) === '_'; // provider_http_402
    start = i + name.length;
    let at = start;
    while (at < text.length && ' :="\'(_：（'.includes(text.charAt(at))) {
      at++;
    }
    const status = whole ? leadingStatus(text, at) : 0;
    if (status !== 0) {
      return status;
    }
  }
}

function phraseStatus(text: string): number {
  const phrase = spoken.phrases.find((each) => text.includes(each));
  const i = phrase === undefined ? -1 : text.indexOf(phrase);
  if (phrase !== undefined && (i === 0 || !isWord(text.charAt(i - 1)))) {
    return Number(phrase.slice(0, 3));
  }
  const name = 'http error ';
  const at = text.indexOf(name);
  const after = at < 0 ? '' : text.slice(at + name.length);
  const colon = head(after, limits.lead).indexOf(': ');
  return colon < 0 ? 0 : leadingStatus(after, colon + 2);
}

/** The status that text at `at` begins with. What goes on as an amount, an identifier, a date or a count is none. */
function leadingStatus(text: string, at: number): number {
  const status = /^[0-9]/.test(text.charAt(at)) ? httpStatus(text.slice(at, at + 3)) : 0;
  const after = text.charAt(at + 3);
  if (status === 0 || after === '' || spoken.stops.includes(after)) {
    return status;
  }
  const following = text.charAt(at + 4);
  if (after === ':' && /^[A-Za-z]$/.test(following)) {
    return status; // http_500:boom
  }
  if (isWord(after) || after > '\x7f' || '%$#*+@'.includes(after) || ('.,:-/'.includes(after) && isWord(following))) {
    return 0;
  }
  let i = at + 3;
  while (text[i] === ' ') {
    i++;
  }
  const noun = text.slice(i, i + 32) + ' ';
  return spoken.counts.some((count) => noun.startsWith(count)) ? 0 : status;
}
