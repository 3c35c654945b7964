import type { Decision, Failure, Message, RunEvent, Status, Suggestion, Tried, Vote, WaitFor } from './event.js';
import type { Situation } from './situation.js';

/** Where a run stands: what the gateway says of it, and what its events, and the live text after them, amount to. */
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
  /** What there is to see of it, as the gateway said it last. */
  situation?: Situation;
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
  /** What a person may choose from: meta.recoverySuggestion. */
  suggestion?: Suggestion;
  /** The failure that nothing has answered yet, or that the run ended with. */
  error?: Failure;
  /** What no event can say now: the run waits for its store. The next thing that happens takes it away. */
  notice?: string;
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
  beganAt: string;
  /** Live reasoning, if the model shows it. */
  thinking: string;
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
  /** What a person chose, in words; `at` is a time that they tell in UTC. */
  | { type: 'chosen'; text: string; at?: string; seq: number }
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
  /** The line about it: "Recovered after 2 retries · now using openai/gpt-5.2". */
  text: string;
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
  /** What a person chose then, in words. */
  chosen?: string;
}
