import type { Button, Status, Suggestion, ToolCall, WaitFor } from './event.js';
import type { View } from './view.js';

/** A row of the table of states that every client draws. There may be ones that this version does not know: draw their line. */
export type State =
  | 'idle' | 'thinking' | 'slow' | 'tool' | 'tool_slow' | 'retry_wait' | 'retry_now' | 'switching' | 'compacting'
  | 'wait_reset' | 'wait_online' | 'wait_store' | 'wait_tool' | 'wait_machine' | 'stopping' | 'suggestion' | 'expired' | 'superseded' | 'failed' | 'stopped';

/**
 * What a person should see of a run and can do about it, as the gateway says it: what changes as
 * time passes is in it as stages, what counts up or down as times. `seen` makes of it what to draw.
 */
export interface Situation {
  /** Of the event from which on it is so. */
  seq: number;
  status: Status;
  waitingFor?: WaitFor;
  stopReason?: string;
  /** That is asked, or will be next. */
  model: string;
  /** The attempt that goes on. */
  inAir?: number;
  /** n of "attempt n/m". */
  retry?: number;
  of?: number;
  /** The id of the suggestion that is open. */
  suggestion?: string;
  /** Stands above the text of the attempt in the air, from its first word on. */
  recovered?: string;
  /** What keeps the run from going on. */
  held?: { by: string; limit?: string; needs?: Record<string, string>; until?: string };
  /** The tool calls that the program which started the run is to carry out. */
  awaited?: AwaitedCall[];
  /** In order; at least one. */
  stages: Stage[];
}

/** A tool call that the program which started the run is to carry out. */
export interface AwaitedCall {
  /** Under which its result is given. */
  id: string;
  name: string;
  /** They fit the tool's schema. */
  args: Record<string, unknown>;
  /** The same whenever this call is asked, and unlike any other's. */
  key: string;
  /** From 0: a call that a person had asked once more has more. */
  try?: number;
  since: string;
  /** It is given up then. */
  until: string;
}

/**
 * What there is to see from a time on. Its texts, and the labels of its actions, may hold {elapsed},
 * the time since `since`; {countdown}, the time until `until`; {clock}, which is `until` as a time of day; and {leave}, by which
 * a person may leave.
 */
export interface Stage {
  from: string;
  state: State;
  line?: string;
  since?: string;
  until?: string;
  /** The model that `line` names in full. */
  model?: string;
  /** The id under which the actions are answered. */
  asks?: string;
  actions?: Button[];
  /** Stop stands beside the actions. */
  stop?: boolean;
  card?: Card;
}

/** A failure that a person is asked about, or that was the end. */
export interface Card {
  title: string;
  message?: string;
  /** "Tried 3 times over 14 s." */
  tried?: string;
  /** Trying again would not help, or may do harm. */
  grave?: boolean;
  /** Who suggests the first action, and because of what. */
  why?: string;
  /** Why it was not done without asking: "all retries are used up". */
  limit?: string;
  /** The tool call that it is about. */
  call?: ToolCall;
  /** Nothing has failed: a person is asked whether the call may be made. */
  approval?: boolean;
}

/** What to draw below a run's conversation at a moment. */
export interface Seen {
  state: State;
  /** The line in its pieces; `tick` says of a piece that it changes every second, so that a screen reader is not told of it. */
  line: Piece[];
  /** The model that the line names in full. */
  model?: string;
  /** What may be done: buttons of the wait, of the slow call or of the suggestion. */
  actions: Button[];
  /** Stop stands beside them; a run that goes on can be stopped without, too. */
  stop: boolean;
  /** To be named when one of the actions is posted: the id of the wait, of the call or of the suggestion. */
  asks?: string;
  card?: Card;
  /** The suggestion that the card is about. */
  suggestion?: Suggestion;
}

/** A piece of a line. */
export interface Piece {
  text: string;
  tick?: boolean;
}

/** Says what to draw for a run at a time, in milliseconds of the server's clock. */
export function seen(v: View, now: number): Seen {
  if (v.notice !== undefined) {
    return { state: 'wait_store', line: [{ text: v.notice }], actions: [], stop: true };
  }
  const stage = v.situation && stageAt(v.situation, v, now);
  if (!stage) {
    return { state: 'idle', line: [], actions: [], stop: false };
  }
  const told = (text: string): string => pieces(text, stage, now).map((p) => p.text).join('');
  const card = stage.card && {
    ...stage.card, title: told(stage.card.title),
    ...(stage.card.message && { message: told(stage.card.message) }), ...(stage.card.why && { why: told(stage.card.why) }),
  };
  return {
    state: stage.state, line: pieces(stage.line ?? '', stage, now), stop: stage.stop ?? false,
    actions: (stage.actions ?? []).map((b) => ({ ...b, label: told(b.label) })),
    ...(stage.model && { model: stage.model }), ...(stage.asks && { asks: stage.asks }), ...(card && { card }),
    ...(card && v.suggestion && { suggestion: v.suggestion }),
  };
}

/** The stage that counts: once there is text nothing is said, and once there is reasoning the model is not slow. */
function stageAt(s: Situation, v: View, now: number): Stage | undefined {
  const heard = v.attempt?.id === s.inAir ? v.attempt : undefined;
  if (heard && v.answer.partial) {
    return undefined;
  }
  return s.stages.findLast((stage, i) => i === 0 || (Date.parse(stage.from) <= now && !(heard?.thinking && stage.state === 'slow')));
}

/** A text with its times, in pieces. What stands before a time that ticks goes with it: "Retrying| in 4 s|…". */
function pieces(text: string, stage: Stage, now: number): Piece[] {
  const since = Date.parse(stage.since ?? '');
  const until = Date.parse(stage.until ?? '');
  return text.split(/((?:,| in)? ?\{(?:elapsed|countdown)\})/).filter(Boolean).map((piece) => {
    const said = piece.replace('{elapsed}', spell(now - since)).replace('{countdown}', spell(until - now, true));
    return said === piece ? { text: piece.replaceAll('{clock}', clock(until, now)).replace('{leave}', 'You can close this page.') } : { text: said, tick: true };
  });
}

/** The line as a sentence, as plain text and screen readers have it: without what ticks. */
export function spoken(s: Seen): string {
  if (s.card) {
    return `${s.card.title}. ${s.card.message ?? ''}`.trim();
  }
  return s.line.filter((p) => !p.tick).map((p) => p.text).join('');
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
