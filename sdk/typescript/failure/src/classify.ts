import { describe } from './describe.js';
import type { Evidence, Failure } from './evidence.js';
import { comeBack } from './hints.js';
import { plain } from './plain.js';
import { Reading } from './reading.js';
import { tables } from './tables.js';
import { clip, lower } from './text.js';
import { verdictOf, type Verdict } from './verdict.js';

const kinds = new Map(tables.kinds.map((row) => [row.kind, row]));
const unknown = kinds.get('unknown') ?? { code: '', retryable: true, once: true };

/** Every kind that this version knows. */
export const KINDS: readonly string[] = [...kinds.keys()];

/**
 * What the evidence of a failed call means: one kind for any evidence whatever. It never throws, reads no clock, and takes
 * time linear in what it is given.
 */
export function classify(e: Evidence): Failure {
  const c = new Reading(e);
  const { verdict, confidence } = verdictOf(c, e);
  const { kind, variant = '' } = verdict;
  const httpStatus = e.status ?? 0;
  const { origin, phase } = place(kind, c.phase, httpStatus);
  const hint = comeBack(c, kind, verdict.daily ?? false);
  const resetsAt = hint.at === undefined ? undefined : new Date(Number(hint.at / 1_000_000n));
  const detail = detailOf(c);
  const { provider = '', model = '' } = e;
  const { title, message } = describe({
    kind, variant, phase, provider, model, httpStatus, retryAfterMs: hint.after, resetsAt, detail, error: c.error,
  });
  return {
    kind,
    code: (kinds.get(kind) ?? unknown).code,
    retryable: retryableOf(c, verdict),
    once: kinds.get(kind)?.once ?? false,
    title,
    message,
    detail,
    variant,
    origin,
    phase,
    provider,
    model,
    httpStatus,
    providerCode: providerCodeOf(c, verdict),
    requestId: requestIdOf(c),
    retryAfterMs: hint.after,
    confidence,
    ...(resetsAt && { resetsAt }),
  };
}

/** Whether the same input may succeed. */
function retryableOf(c: Reading, verdict: Verdict): boolean {
  const saysSo = lower(c.header('x-should-retry'));
  if (saysSo === 'true' || saysSo === 'false') {
    return saysSo === 'true';
  }
  return verdict.retryable ?? (kinds.get(verdict.kind) ?? unknown).retryable;
}

/** The code that decided, as the provider wrote it, else its first one that is not an envelope's. */
function providerCodeOf(c: Reading, verdict: Verdict): string {
  const decided = c.codes.find((code) => verdict.code && code.lower === verdict.code);
  return (decided ?? c.codes.find((code) => code.written !== '' && code.lower !== 'error' && !code.inHeader))?.written ?? '';
}

function requestIdOf(c: Reading): string {
  const named = tables.requestIDHeaders.map((name) => c.header(lower(name))).find((value) => value !== '') ?? '';
  return clip(named, tables.limits.requestID) || c.body.requestId;
}

/** What the provider said in its own words, else what the transport did. */
function detailOf(c: Reading): string {
  return clip(c.rawBody === '' ? plain(c.error ?? '') : c.said || plain(c.rawBody), tables.limits.detail);
}

/** Origin and phase, where they follow from the rest. */
function place(kind: string, said: string, status: number): { origin: string; phase: string } {
  const connecting = status === 0 && (kind === 'unreachable' || kind === 'tls');
  const phase = said || (connecting ? 'before_connect' : 'before_first_event');
  if (kind === 'internal') {
    return { origin: 'runner', phase };
  }
  if (phase === 'prompt') {
    return { origin: 'prompt', phase };
  }
  return { origin: phase === 'tool' || kind === 'tool_failure' ? 'tool' : 'model', phase };
}
