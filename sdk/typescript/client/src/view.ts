import type { Button, Decision, Failure, Message, RunEvent, Status, Suggestion, Tried, Vote, Wait, WaitFor } from './event.js';

/** Where a run stands: what its events, and the live text after them, amount to. */
export interface View {
  id: string;
  session: string;
  /** Of the last event that is in it: follow from here. */
  seq: number;
  startedAt: string;
  updatedAt: string;
  status: Status;
  waitingFor?: WaitFor;
  stopReason?: string;
  /** How the suggestion of a run that failed was closed, where nobody answered it. */
  closed?: 'expired' | 'superseded';
  /** The model that the run was started with. */
  chosenModel: string;
  /** The model that is asked, or was asked last. */
  model: string;
  /** The models that it may be switched to. */
  models: string[];
  autoRecover: boolean;
  /** What the user said. */
  prompt: string;
  answer: Answer;
  /** The model call that is going on. */
  attempt?: Attempt;
  /** Recovery from a failure that has not come to its first token yet. */
  recovering?: Recovering;
  /** A wait that a person may cut short by its actions. */
  wait?: Wait;
  /** What a person may choose from: meta.recoverySuggestion. */
  suggestion?: Suggestion;
  /** The failure that nothing has answered yet, or that the run ended with. */
  error?: Failure;
  /** A summary of the conversation is being written, so that it fits this model. */
  compacting?: string;
  /** The run waits for its store: a plain line of why. */
  paused?: string;
  usage: Used;
  /** The conversation of this run, in the order in which to show it. */
  entries: Entry[];
  /** Everything that happened, for a timeline. */
  events: RunEvent[];
}

/** What the model said last. */
export interface Answer {
  text: string;
  /** The full name of the model that wrote it. */
  model: string;
  /** The attempt that wrote it failed or goes on. */
  partial: boolean;
  /** It was cut at the output limit. */
  truncated: boolean;
}

/** A model call that is going on. */
export interface Attempt {
  id: number;
  model: string;
  /** n of "attempt n/m"; 0 is the first try. */
  retry: number;
  of: number;
  beganAt: string;
  /** Live reasoning, if the model shows it. */
  thinking: string;
  /** Milliseconds until silence before the first event ends it; 0 is never. */
  firstEventMs: number;
  /** Milliseconds until silence after that ends it; 0 is never. */
  idleMs: number;
  /** What a person may do who does not wait any longer; offer it once the call is slow. */
  cutShort?: CutShort;
}

/** How a model call may be cut short: answered as a wait is, under its id. */
export interface CutShort {
  id: string;
  actions: Button[];
}

/** What is being done about a failure. */
export interface Recovering {
  failure: Failure;
  /** The model that is tried next, where it is another one. */
  switchTo?: string;
  /** Nobody noticed so far: the first retry, after less than 1.5 s. */
  quiet: boolean;
}

/** What a run used. */
export interface Used {
  tokens: number;
  /** Of them, by attempts that failed. */
  wastedTokens: number;
  microdollars: number;
}

/** One piece of a conversation. */
export type Entry =
  | { type: 'user'; message: Message }
  /** `truncated`: it ends where its model reached the most that it may write. */
  | { type: 'text'; key: string; text: string; model: string; partial: boolean; truncated?: boolean; thinking?: string }
  | { type: 'tool'; call: ToolRun }
  /** `model` is what `label` names in full, if it names one, and `at` the time that it tells. */
  | { type: 'chosen'; label: string; model?: string; at?: string; plugin?: string; seq: number }
  | { type: 'recovered'; recovery: Recovery };

/** A tool call and how far it has come. */
export interface ToolRun {
  id: string;
  name: string;
  args: unknown;
  /** `stopped`: the run ended before it returned, or before it began. */
  state: 'asked' | 'running' | 'ok' | 'error' | 'unknown' | 'stopped';
  beganAt?: string;
  elapsedMs?: number;
  result?: string;
  /** The tool's own last word about how far it has come. */
  says?: string;
}

/** A failure that was recovered from, with all that was tried. */
export interface Recovery {
  /** The attempt that answered. */
  attempt: number;
  retries: number;
  /** The model that answered, where it is another one. */
  switchedTo?: string;
  from: string;
  /** Why `from` was not asked at all: it cools down. */
  passedOver?: Failure;
  tried: TriedFailure[];
}

/** A failed attempt with its failure and what was decided about it. */
export interface TriedFailure extends Tried {
  failure: Failure;
  votes: Vote[];
  decision?: Decision;
  chosen?: Button;
}
