/** What counts more than what: the steps from evidence to a kind. */

import { unframed } from './bare.js';
import { causeOf, saysDay } from './causes.js';
import type { Evidence } from './evidence.js';
import { spokenHint } from './hints.js';
import { flat, isSuccess, says, type Reading } from './reading.js';
import { isOverflow } from './sizes.js';
import { named } from './table.js';
import { tables } from './tables.js';
import { lower, size, trimRight } from './text.js';
import { bounded, duration } from './times.js';

const { codes, limits, pages, rules } = tables;
const statuses = named(tables.statuses);

/** A kind, and what the rule that gave it said about it. */
export interface Verdict {
  readonly kind: string;
  readonly variant?: string | undefined;
  /** Its own word where it differs from its kind's. */
  readonly retryable?: boolean | undefined;
  /** The provider's code that decided. */
  readonly code?: string;
  /** A day's allowance is used up: a wait of seconds beside it is not meant. */
  readonly daily?: boolean;
}

type Step = (c: Reading, e: Evidence) => Verdict | undefined;
type Table = keyof typeof rules;

/** The verdict of the first step that knows the failure, and how sure it is, of a hundred. */
export function verdictOf(c: Reading, e: Evidence): { verdict: Verdict; confidence: number } {
  for (const { step, confidence } of tables.precedence) {
    const verdict = steps.get(step)?.(c, e);
    if (verdict) {
      return { verdict, confidence };
    }
  }
  return { verdict: { kind: 'unknown' }, confidence: 0 };
}

const noApi: Verdict = { kind: 'misconfigured', variant: 'no_api' };

function byRules(c: Reading, table: Table, text: string): Verdict | undefined {
  for (const rule of rules[table]) {
    const code = c.match(rule, text);
    if (code !== undefined) {
      const broke = rule.wire && c.streaming && rule.kind === 'unreachable';
      return { kind: broke ? 'stream_interrupted' : rule.kind, variant: rule.variant, retryable: rule.retryable, code };
    }
  }
  return undefined;
}

const byTable = (table: Table): Step => (c) => byRules(c, table, c.text);

function byAdapter(c: Reading, e: Evidence): Verdict | undefined {
  if (!e.kind) {
    return undefined;
  }
  const by = byRules(c, 'loose', c.text);
  return { kind: e.kind, variant: by?.kind === e.kind ? by.variant : undefined };
}

/** Answers that no API gave: a log-in page, a bot check, a web server that knows no such path. */
function byPage(c: Reading, { status = 0 }: Evidence): Verdict | undefined {
  const page = lower(c.header('content-type')).includes('text/html') && c.codes.length === 0;
  const check = says(c.text, pages.botChecks) && (page || c.rawBody.startsWith('<')) && (status === 403 || status === 503);
  if (c.header('cf-mitigated') !== '' || check) {
    return { kind: 'unreachable', variant: 'bot_check', retryable: false };
  }
  if (page && c.succeeded && !c.streaming) {
    return { kind: 'unreachable', variant: 'page' };
  }
  const missing = c.status === 404 && (page || (c.body.members === 0 && c.isPage));
  if (missing || says(c.text, ['404 page not found', '404 status code (no body)'])) {
    return noApi;
  }
  return byNameless(c);
}

/** A 404 that names nothing that is missing, which is how a web server speaks of a path. */
function byNameless(c: Reading): Verdict | undefined {
  const said = trimRight(c.text.slice(c.text.lastIndexOf('\n') + 1), '. ');
  const is404 = c.status === 404 || c.spoken === 404;
  return is404 && pages.namelessNotFound.includes(said) && !c.codeLike(codes.model) ? noApi : undefined;
}

/** Tells a used-up plan or day from a limit that passes within minutes, by identifiers and figures. */
function byQuota(c: Reading): Verdict | undefined {
  const exhausted = c.codeOf(codes.exhausted);
  if (c.status !== 429 && c.spoken !== 429 && !exhausted && !c.text.includes('quota will reset')) {
    return undefined;
  }
  const code = exhausted?.lower ?? '';
  if (c.body.quotas.some((quota) => says(lower(quota), ['perday', 'per_day', 'daily']))) {
    return { kind: 'quota', code, daily: true };
  }
  const long =
    bounded(duration(c.body.delay.value)) > limits.longDelayMs ||
    (c.text.includes('quota will reset') && spokenHint(c, 'quota') > limits.longDelayMs);
  if (long || c.header('anthropic-ratelimit-unified-status').toLowerCase() === 'rejected') {
    return { kind: 'quota', code };
  }
  return c.body.quotas.some((quota) => flat(quota).includes('perminute')) ? { kind: 'rate_limit', code } : undefined;
}

/** The words of a code that no table has: BILLING_PAUSED. */
const byCodeWords: Step = (c) => {
  const family = familyOf(c.status);
  if (family === 0 && c.status !== 0 && !isSuccess(c.status)) {
    return undefined;
  }
  for (const code of c.codes) {
    if (codes.known.includes(code.flat) || size(code.written) > limits.likeCode) {
      continue;
    }
    const verdict = byCauses(c, code.written, family);
    if (verdict && (verdict.kind !== 'unavailable' || family !== 0)) {
      return { ...verdict, code: code.lower };
    }
  }
  return undefined;
};

const byServerCode = byTable('serverCodes');

/** Why a call failed whose status, or a code that says no more than one, says less than its words. */
const byRefusal: Step = (c, e) => {
  const silent = c.status === 0;
  const invalid = silent && c.codeOf(codes.invalid) !== undefined;
  let family = familyOf(c.status);
  if (invalid) {
    family = familyOf(400);
  } else if (silent && familyOf(c.spoken) !== 0) {
    family = familyOf(c.spoken);
  } else if (family === 0 && byServerCode(c, e)) {
    family = familyOf(503);
  }
  const verdict = family === 0 ? undefined : byClauses(c, family);
  const spoken = silent && !invalid ? bySpokenStatus(c, e) : undefined;
  return spoken?.kind === verdict?.kind ? undefined : verdict;
};

const byCause: Step = (c) => byClauses(c, 0);

/** A quota, where a general code or a name tells of a limit and the words of a day or a month. */
function ofLimit(c: Reading, verdict: Verdict | undefined): Verdict | undefined {
  const said = verdict?.kind === 'rate_limit' ? byClauses(c, familyOf(429)) : undefined;
  return said?.kind === 'quota' && saysDay(unframed(c.bare)) ? { ...said, code: verdict?.code ?? '' } : verdict;
}

const families = named(tables.families);

/** The family of HTTP statuses that say less than words; 0: none. */
function familyOf(status: number): number {
  return families.get(String(status)) ?? 0;
}

/** What the words say that are not those of a frame and, where nothing else does, all of them. */
function byClauses(c: Reading, family: number): Verdict | undefined {
  if ((family === 0 || (family & (familyOf(400) | familyOf(500))) !== 0) && isOverflow(c.text)) {
    return { kind: 'context_overflow' };
  }
  const own = unframed(c.bare);
  const verdict = byCauses(c, own, family);
  return verdict || family !== 0 || own === c.bare ? verdict : byCauses(c, c.bare, 0);
}

function byCauses(c: Reading, said: string, family: number): Verdict | undefined {
  const found = causeOf(said, family, says(c.text, tables.minutely));
  return found && { kind: found.wire && c.streaming ? 'stream_interrupted' : found.kind, variant: found.variant };
}

/** What an HTTP status means by itself. */
function kindOfStatus(status: number): Verdict | undefined {
  const row = statuses.get(String(Math.min(status, 600)));
  return row && { kind: row.kind, variant: row.variant };
}

/** Whether the words are about time that ran out. */
const isLate = (...read: Parameters<Step>) => [byWords, byCause].some((step) => step(...read)?.kind === 'timeout');

const byStatus: Step = (c, e) => {
  if (c.status === 404 && c.codeOf(codes.request) && !c.text.includes('model')) {
    return noApi;
  }
  const verdict = kindOfStatus(c.status);
  const gateway = c.status === 504 && !isLate(c, e); // its word for whatever is behind it
  return verdict && gateway ? { ...verdict, kind: 'unavailable' } : verdict;
};

const byInvalidCode: Step = (c) => {
  const code = c.codeOf(codes.invalid);
  return code && { kind: 'invalid_request', code: code.lower };
};

/** A whole answer that ended as it should and has nothing in it. */
const byAnswer: Step = (c) =>
  (c.status === 0 || isSuccess(c.status)) && c.body.isBlankAnswer && c.codeOf(codes.properEnds) ? { kind: 'empty_response' } : undefined;

/** A status in a message. Passed on, a 503 or 504 says no more than that the provider has problems. */
const bySpokenStatus: Step = (c) => {
  const verdict = kindOfStatus(c.spoken);
  return verdict && [502, 503, 504, 522, 524].includes(c.spoken) ? { ...verdict, kind: 'unavailable' } : verdict;
};

/** The words of the error before the body's. */
const transportOf = (c: Reading) => (c.wire !== '' && c.wire !== c.text ? `${c.wire}\n${c.text}` : c.text);

/** What the transport says, or whoever passed a failure on with a message alone. */
const byWords: Step = (c) => {
  const verdict = byRules(c, 'loose', transportOf(c));
  return verdict?.kind === 'timeout' && c.wire.includes('lookup ') ? { ...verdict, kind: 'unreachable' } : ofLimit(c, verdict);
};

/** The names of errors that say least. */
const byWrapper: Step = (c) => byRules(c, 'wrappers', transportOf(c));

/** How it ended, where nothing was said. */
const byEnd: Step = (c, e) => {
  const odd = kindOfStatus(c.odd);
  if (odd) {
    return odd;
  }
  if (c.wire === 'eof') {
    return { kind: c.streaming ? 'stream_interrupted' : 'unreachable' };
  }
  if (e.timedOut) {
    return { kind: 'timeout' };
  }
  if (c.body.isError) {
    return { kind: 'unavailable' };
  }
  if (!c.succeeded) {
    return undefined;
  }
  if (c.streaming) {
    return { kind: 'stream_interrupted' };
  }
  return c.rawBody === '' && c.error === undefined ? { kind: 'empty_response' } : { kind: 'malformed_response', retryable: false };
};

const steps: ReadonlyMap<string, Step> = new Map([
  ['the adapter', byAdapter],
  ['a page', byPage],
  ['figures of a quota', byQuota],
  ['exact words', byTable('exactWords')],
  ['a code that names one cause', byTable('strongCodes')],
  ['a sentence', byTable('sentences')],
  ['the words of a code', byCodeWords],
  ['a general code', (c) => ofLimit(c, byRules(c, 'generalCodes', c.text))],
  ['why it was refused', byRefusal],
  ['a code that says no more than 500', byServerCode],
  ['the status', byStatus],
  ['a code that says no more than 400', byInvalidCode],
  ['an empty answer', byAnswer],
  ['a status in the message', bySpokenStatus],
  ['loose words', byWords],
  ['a cause in any words', byCause],
  ["a wrapper's name", byWrapper],
  ['how it ended', byEnd],
]);
