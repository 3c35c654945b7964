import type { Button, Suggestion } from './event.js';
import { entryOf, modelName, providerName, providerOf, short } from './names.js';
import type { Attempt, CutShort, Recovery, View } from './view.js';

/** A row of the table of states that every client draws. */
export type State =
  | 'idle' | 'streaming' | 'thinking' | 'slow' | 'tool' | 'tool_slow' | 'retry_wait' | 'retry_now' | 'switching' | 'compacting'
  | 'wait_reset' | 'wait_online' | 'wait_store' | 'suggestion' | 'expired' | 'failed' | 'stopped';

/** What to draw below a run's conversation. */
export interface Situation {
  state: State;
  /**
   * The line in its pieces; `tick` says of a piece that it changes every second, so that a
   * screen reader is not told of it.
   */
  line: Piece[];
  /** What may be done: buttons of the wait, of the slow call or of the suggestion. Stop is always there while a run goes on. */
  actions: Button[];
  /** To be named when one of the actions is posted: the id of the wait, of the call or of the suggestion. */
  asks?: string;
  suggestion?: Suggestion;
}

/** A piece of a line. */
export interface Piece {
  text: string;
  tick?: boolean;
}

const SLOW_MS = 12_000;
const SLOWER_MS = 20_000;
const THINKING_MS = 3_000;
const TOOL_SLOW_MS = 30_000;

/** Says what to draw for a run at a time, in milliseconds of the server's clock. */
export function situation(v: View, now: number): Situation {
  if (v.suggestion && now < Date.parse(v.suggestion.expiresAt)) {
    const suggestion = here(v.suggestion, now);
    return { state: 'suggestion', line: [], actions: suggestion.actions, asks: suggestion.id, suggestion };
  }
  if (v.suggestion || v.closed === 'expired') {
    return plain('expired', 'This suggestion has expired. Send your message again.');
  }
  switch (v.status) {
    case 'completed': return plain('idle');
    case 'cancelled': return plain('stopped', stopped(v));
    case 'failed': return plain(v.closed ? 'idle' : 'failed');
  }
  if (v.paused !== undefined && (v.wait?.for ?? 'store') === 'store') {
    return plain('wait_store', v.paused || 'The run waits for its store. It goes on by itself.');
  }
  return waiting(v, now) ?? working(v, now);
}

/** The line as a sentence, as plain text and screen readers have it: without what ticks. */
export function spoken(s: Situation): string {
  if (s.suggestion) {
    return `${s.suggestion.title}. ${s.suggestion.message}`;
  }
  return s.line.filter((p) => !p.tick).map((p) => p.text).join('');
}

function plain(state: State, text = ''): Situation {
  return { state, line: text ? [{ text }] : [], actions: [] };
}

function waiting(v: View, now: number): Situation | undefined {
  const w = v.wait;
  if (!w) {
    return undefined;
  }
  const asked = { actions: w.actions ?? [], asks: w.id };
  const until = Date.parse(w.until ?? '');
  const failure = v.recovering?.failure ?? v.error;
  if (w.for === 'network') {
    return { state: 'wait_online', line: [{ text: 'This computer is offline. The run continues when the connection is back.' }], ...asked };
  }
  if (w.for === 'reset' || until - now > 10 * 60_000) {
    const provider = failure ? providerOf(failure) : providerName(entryOf(w.model));
    return { state: 'wait_reset', line: [{ text: `Waiting for ${provider} until ${clock(until, now)}. You can close this page.` }], ...asked };
  }
  if (!failure || v.recovering?.quiet) {
    return undefined;
  }
  const left = { text: ` in ${spell(Math.max(0, until - now), true)}`, tick: true };
  if (v.recovering?.switchTo) {
    return { state: 'switching', line: [{ text: `${short(failure)}. Switching to ${modelName(w.model)}` }, left, { text: '…' }], ...asked };
  }
  return { state: 'retry_wait', line: [{ text: `${short(failure)}. Retrying` }, left, { text: `…${attemptOf(w.retry, w.of)}` }], ...asked };
}

function working(v: View, now: number): Situation {
  if (v.compacting) {
    return plain('compacting', `Shortening the conversation to fit ${modelName(v.compacting)}…`);
  }
  const tool = v.entries.findLast((e) => e.type === 'tool' && e.call.state === 'running');
  if (tool?.type === 'tool' && !v.attempt) {
    return usingTool(tool.call.name, now - Date.parse(tool.call.beganAt ?? ''));
  }
  const a = v.attempt;
  if (a && v.answer.partial && v.answer.text) {
    return plain('streaming');
  }
  const r = v.recovering;
  if (r && !r.quiet && !slower(a, now)) {
    const what = r.switchTo ? `Switching to ${modelName(r.switchTo)}…` : `Retrying…${a ? attemptOf(a.retry, a.of) : ''}`;
    return plain(r.switchTo ? 'switching' : 'retry_now', `${short(r.failure)}. ${what}`);
  }
  return thinking(v, now);
}

function usingTool(name: string, elapsed: number): Situation {
  if (elapsed < TOOL_SLOW_MS) {
    return plain('tool', 'Thinking…');
  }
  return { state: 'tool_slow', line: [{ text: `Still working: ${name}` }, { text: `, ${spell(elapsed)}`, tick: true }], actions: [] };
}

/** How a call may be cut short that has said nothing for long, where a limit is set on that. */
function slower(a: Attempt | undefined, now: number): CutShort | undefined {
  const long = a && !a.thinking && (a.firstEventMs > 0 || a.idleMs > 0) && now - Date.parse(a.beganAt) >= SLOWER_MS;
  return long ? a.cutShort : undefined;
}

function thinking(v: View, now: number): Situation {
  const a = v.attempt;
  const elapsed = now - Date.parse(a?.beganAt ?? v.updatedAt);
  if (!a || elapsed < SLOW_MS || a.thinking) {
    const line: Piece[] = [{ text: 'Thinking…' }];
    if (elapsed >= THINKING_MS) {
      line.push({ text: ` ${spell(elapsed)}`, tick: true });
    }
    return { state: 'thinking', line, actions: [] };
  }
  const line: Piece[] = [{ text: `Still waiting for ${providerName(entryOf(a.model))}…` }, { text: ` ${spell(elapsed)}`, tick: true }];
  const left = a.firstEventMs - elapsed;
  if (elapsed >= SLOWER_MS && left > 0 && v.autoRecover && a.retry < a.of) {
    line.push({ text: ' · will retry' }, { text: ` in ${spell(left, true)}`, tick: true });
  }
  const cut = slower(a, now);
  return { state: 'slow', line, actions: cut?.actions ?? [], ...(cut && { asks: cut.id }) };
}

/** " (attempt 2/3)"; nothing where a person asked for more than there are. */
function attemptOf(n = 0, of = 0): string {
  return n < 1 || n > of ? '' : ` (attempt ${n}/${of})`;
}

/** What is said of a run that a person stopped: text is kept where there is some. */
export function stopped(v: View): string {
  return v.entries.some((entry) => entry.type === 'text' && entry.text) ? 'Stopped. The text above is kept.' : 'Stopped.';
}

/** A duration for people: "42 s", "2 min 5 s", "1 h 5 min"; rounded up for what is left. */
export function spell(ms: number, left = false): string {
  const seconds = left ? Math.ceil(ms / 1000) : Math.floor(ms / 1000);
  const parts: string[] = [];
  let rest = Math.max(0, seconds);
  for (const [size, unit] of [[3600, 'h'], [60, 'min'], [1, 's']] as const) {
    const n = Math.floor(rest / size);
    if (n > 0 || (unit === 's' && parts.length === 0)) {
      parts.push(`${n} ${unit}`);
    }
    rest -= n * size;
  }
  return parts.slice(0, 2).join(' ');
}

/** A time of day for people: "3:00 PM", with its date where that is another one. */
export function clock(at: number, now: number): string {
  const [date, today] = [new Date(at), new Date(now)];
  const time = date.toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' });
  if (date.toDateString() === today.toDateString()) {
    return time;
  }
  const other = date.getFullYear() !== today.getFullYear();
  return `${time} on ${date.toLocaleDateString('en-US', { month: 'long', day: 'numeric', ...(other && { year: 'numeric' }) })}`;
}

/** Puts a time that a text of the gateway's tells in UTC ("15:00 UTC") as `clock` says it where this person is. */
export function localize(text: string, at: string | undefined, now: number): string {
  const time = Date.parse(at ?? '');
  if (Number.isNaN(time)) {
    return text;
  }
  const date = new Date(time);
  const utc = `${date.toISOString().slice(11, 16)} UTC`;
  const day = date.toLocaleDateString('en-US', { month: 'long', day: 'numeric', timeZone: 'UTC' });
  return text.replaceAll(`${utc} on ${day}`, clock(time, now)).replaceAll(utc, clock(time, now));
}

/** A suggestion with its times as they are where this person is. */
function here(s: Suggestion, now: number): Suggestion {
  const local = (text: string): string => localize(localize(text, s.resetsAt, now), s.error.resetsAt, now);
  return {
    ...s, title: local(s.title), message: local(s.message), ...(s.why && { why: local(s.why) }),
    actions: s.actions.map((b) => ({ ...b, label: local(b.label) })),
  };
}

/** The grey line about what was recovered from. */
export function recovered(r: Recovery): string {
  const after = r.retries === 0 ? 'a model switch' : r.retries === 1 ? '1 retry' : `${r.retries} retries`;
  const what = r.passedOver && r.tried.length === 0 ? `${modelName(r.from)} is cooling down` : `Recovered after ${after}`;
  return `${what}${r.switchedTo ? ` · now using ${modelName(r.switchedTo)}` : ''}`;
}
