import type { Headers } from './rescue.js';
import type { Kind } from './kind.js';
import type { Situation } from './situation.js';

/** Who says a message. The results of tool calls are said by "tool". */
export type Role = 'user' | 'assistant' | 'tool';

/** One turn of a conversation. */
export interface Message {
  role: Role;
  parts: Part[];
  /** The full name (provider/model) of the model that wrote it. */
  model?: string;
}

/** One piece of a message: exactly one of its fields is set. */
export interface Part {
  text?: string;
  thinking?: { text?: string };
  image?: { mediaType: string; data: string };
  call?: ToolCall;
  result?: ToolResult;
}

/** A model's wish that a tool be run. */
export interface ToolCall {
  id: string;
  name: string;
  args: unknown;
}

/** What a tool call came to. */
export interface ToolResult {
  callId: string;
  name: string;
  text: string;
  isError?: boolean;
}

/** Where a run stands. A failed run with an open suggestion can still be recovered. */
export type Status = 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';

/** What a waiting run waits for. */
export type WaitFor = 'time' | 'reset' | 'network' | 'store' | 'caller' | 'tool';

/** What went wrong with an attempt, in words for people and in codes for programs. */
export interface Failure {
  kind: Kind;
  code: string;
  variant?: string;
  origin: string;
  phase: string;
  retryable: boolean;
  provider?: string;
  model?: string;
  httpStatus?: number;
  providerCode?: string;
  requestId?: string;
  tool?: string;
  retryAfterMs?: number;
  resetsAt?: string;
  timer?: string;
  limitMs?: number;
  elapsedMs?: number;
  title: string;
  message: string;
  /** The provider's own words. */
  detail?: string;
  /** Where the row of somebody's own stands that decided `kind`: "row 2 of mulligan.yaml". */
  row?: string;
}

/** One action that a person may choose. Draw kinds that you do not know by their label. */
export interface Button {
  id: string;
  kind: string;
  label: string;
  /** "runner": post it back. "client": yours to carry out, never posted. */
  effect: 'runner' | 'client';
  model?: string;
  primary?: boolean;
  /** Where a plugin's own button leads, http or https: yours to open. */
  url?: string;
  /** The plugin that is asked again when this button of its own is posted. */
  plugin?: string;
}

/** Why a decision is what it is. */
export interface Voter {
  plugin: string;
  version?: string;
  reason?: string;
  ms: number;
}

/** One failed attempt of the model call that a suggestion is about. */
export interface Tried {
  attempt: number;
  model: string;
  code: string;
  at: string;
  ms: number;
}

/** A decision offered to a person: meta.recoverySuggestion. */
export interface Suggestion {
  /** approve: nothing has failed, a person is asked whether a tool call may be made. */
  suggestedAction: 'retry' | 'switch_model' | 'fail' | 'approve';
  newModel?: string;
  attempt: number;
  id: string;
  expiresAt: string;
  title: string;
  message: string;
  error: Failure;
  retryAt?: string;
  resetsAt?: string;
  blockedBy?: string;
  /** What that stands for, in words: "all retries are used up". */
  limit?: string;
  /** Missing where nobody had an opinion: what is safe is offered. */
  decidedBy?: Voter;
  /** Who suggests the first action, and because of what, in one line. */
  why?: string;
  /** The suggested one first, Stop last; none where the run is over. */
  actions: Button[];
  tried: Tried[];
}

/** A deliberate wait. A person may cut it short by its id and actions. */
export interface Wait {
  id: string;
  for: WaitFor;
  until?: string;
  model: string;
  /** n and m of "attempt n/m"; missing where no retry that is counted follows, as before a switch. */
  retry?: number;
  of?: number;
  actions?: Button[];
}

/** What one plugin said about a failure, or why it said nothing. */
export interface Vote {
  plugin: string;
  version?: string;
  latencyMs: number;
  action?: string;
  delayMs?: number;
  newModel?: string;
  reason?: string;
  /** What it forbids, whatever is advised or chosen. */
  restrict?: { never?: string[]; maxOutputPrice?: number; local?: boolean };
  error?: string;
  shadow?: boolean;
}

/** What will be done about a failure, by whose advice, and why. */
export interface Decision {
  action?: string;
  delayMs?: number;
  newModel?: string;
  reason?: string;
  /** About a tool that failed: what the model is told in the place of what the tool said. */
  words?: string;
  /** Buttons of the plugin's own. */
  actions?: Button[];
  /** What the next attempt changes. */
  adjust?: { compact?: boolean; maxOutputTokens?: number; reasoningEffort?: string; continue?: boolean };
  by?: Voter;
  blockedBy?: string;
  ignored?: string[];
}

/** Tokens of a model call. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
}

/** What a run may do; the part of it that clients draw. */
export interface Policy {
  autoRecover: boolean;
  models?: string[];
  prices?: Record<string, { input: number; output: number; cacheRead?: number; cacheWrite?: number }>;
  /** Whose the tools are: the runner's, or whose call the run is. */
  tools?: 'caller';
  /** The plugins that are asked about tools that failed. */
  toolError?: string[];
}

/** What each type of event says. */
export interface Bodies {
  started: { model: string; system?: string; input: Message[]; policy: Policy; session?: string };
  claimed: { owner: string; epoch: number };
  began: { attempt: number; round: number; try: number; model: string; withdraws?: number; continues?: number; retry?: boolean; again?: boolean };
  answered: { attempt: number; message: Message; usage: Usage; stop: string; firstEventMs?: number };
  failed: { attempt?: number; text?: string; callId?: string; failure: Failure; cause?: string; usage?: Usage; alternatives?: { model: string }[]; offline?: boolean; headers?: Headers };
  repaired: { attempt: number; model: string };
  /** An occasion is what plugins are asked about: "run_error/12" is the failure of event 12. */
  voted: { occasion: string; vote: Vote };
  decided: { occasion: string; decision: Decision };
  waiting: Wait;
  due: { timer: string; failure?: number };
  tool_began: { callId: string; name: string; try: number; by?: 'engine' };
  tool_returned: { callId: string; result: ToolResult; outcome: 'ok' | 'error' | 'unknown'; elapsedMs?: number };
  compacting: { failure: number; model: string };
  compacted: { stage?: string; model?: string; usage?: Usage; reason?: string };
  noted: { topic: string; what?: string; callId?: string; attempt?: number; since?: string; elapsedMs?: number; detail?: string };
  suggested: { callId?: string; suggestion: Suggestion };
  accepted: { suggestion: string; action: string; model?: string };
  cancel_requested: { attempt?: number; text?: string };
  paused: { reason: string; forMs?: number };
  ended: { status: Status; stopReason: string; truncated?: boolean };
  slept: { forMs: number };
}

/** The types of events that this version knows. */
export type EventType = keyof Bodies;

/**
 * One thing that happened to a run, as it is stored and sent. There may be types that this
 * version does not know: they change nothing.
 */
export type RunEvent = {
  [T in EventType]: {
    v: number;
    run: string;
    /** 1, 2, 3, … without a gap. */
    seq: number;
    time: string;
    type: T;
    /** One plain line for people; absent where the event is none of their business. */
    text?: string;
    data: Bodies[T];
  };
}[EventType];

/** A live piece of an attempt's text. Offsets are in bytes of UTF-8. */
export interface Delta {
  run: string;
  attempt: number;
  offset: number;
  text: string;
  thinking?: boolean;
}

/** What cannot be written down now: that the run waits for its store. */
export interface Notice {
  run: string;
  text: string;
}

/** What a follower gets: one of its fields is set. */
export type Item = { event: RunEvent } | { delta: Delta } | { notice: Notice } | { situation: Situation };
