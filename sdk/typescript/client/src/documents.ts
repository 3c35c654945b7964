/** What the gateway is sent, and what it answers. */

import type { Button, Failure, Message, Status, Suggestion, WaitFor } from './event.js';
import type { Kind } from './kind.js';
import type { Situation } from './situation.js';
import type { Tool } from './tools.js';

/** What a run begins from. What is left out is the session's, or the gateway's own. */
export interface Start {
  prompt?: string;
  messages?: Message[];
  /** A run that has ended: the new one begins with what was said up to its end, before `messages` and `prompt`. */
  branchOf?: string;
  model?: string;
  fallbacks?: string[];
  system?: string;
  session?: string;
  autoRecover?: boolean;
  /** What you call the conversation and the agent; plugins are told. */
  sessionKey?: string;
  agentId?: string;
  /** To list the run by: `runs({label: ['tenant=acme']})`. No model is told. */
  labels?: Record<string, string>;
  /** Labels of the machine that is to drive it; it waits until one is there that has all of them. */
  needs?: Record<string, string>;
  maxRetries?: number;
  /** Model calls that may ask for tools; 0 is no limit. */
  maxRounds?: number;
  /** Tools that you carry out: see `followWithTools`. */
  tools?: Tool[];
  /** Timers in milliseconds by name; 0 is off. */
  timeouts?: Record<string, number>;
  /** What the run may use; 0 is without a limit. A microdollar is a millionth of a dollar. */
  budget?: { tokens?: number; microdollars?: number };
}

/** Where a run stands, as the gateway folds it. */
export interface Run {
  id: string;
  session?: string;
  status: Status;
  waitingFor?: WaitFor;
  /** Once it has ended. */
  stopReason?: string;
  chosenModel: string;
  model: string;
  seq: number;
  serverNow: string;
  attempt?: { id: number; model: string; retry: number; of: number; beganAt: string; cutShort?: { id: string; actions: Button[] } };
  /** What a person should see of it and can do; `seen` draws it. */
  situation: Situation;
  answer: { text: string; model?: string; partial?: boolean; truncated?: boolean };
  /** Of a run that failed or is being recovered. */
  error?: Failure;
  meta: { recoverySuggestion?: Suggestion };
}

/** A run in a list. */
export interface Listed {
  id: string;
  session?: string;
  title: string;
  labels?: Record<string, string>;
  /** What the machine has that drives it; stranded: none is there. */
  needs?: Record<string, string>;
  stranded?: boolean;
  model: string;
  status: Status;
  waitingFor?: WaitFor;
  waitingUntil?: string;
  suggestionOpen?: boolean;
  /** Of its last failure, also once it has recovered from it. */
  kind?: Kind;
  /** That failure's title, and on another line the beginning of its message. */
  problem?: string;
  /** Nothing has failed: a person is asked to approve a tool call, which problem names. */
  approval?: boolean;
  /** The plugin that decided last; person: somebody answered. */
  decidedBy?: string;
  attempts: number;
  failedAttempts?: number;
  tokens: number;
  wastedTokens?: number;
  microdollars?: number;
  wastedMicrodollars?: number;
  startedAt: string;
  updatedAt: string;
  seq: number;
}

/** Which runs to list; what is left out does not restrict. */
export interface RunQuery {
  status?: Status;
  waiting?: boolean;
  /** A suggestion is open. */
  needsYou?: boolean;
  session?: string;
  model?: string;
  /** Of the last failure. */
  kind?: Kind;
  /** A plugin, or person. */
  decidedBy?: string;
  label?: string[];
  /** In the title, or in what failed. */
  text?: string;
  /** A time, a day, or so long ago: 12h, 7d. */
  since?: string;
  until?: string;
  order?: 'newest' | 'oldest';
  limit?: number;
  /** The next of the page before. */
  before?: string;
}

/** A run that waits for a person. */
export interface Asked {
  run: string;
  session?: string;
  title: string;
  since: string;
  suggestion: Suggestion;
}

/** What several runs wait for a person about. */
export interface OpenCause {
  kind?: Kind;
  /** The entry that failed. */
  provider?: string;
  title: string;
  runs: number;
  since: string;
  expiresAt: string;
  /** What may be answered, the suggested action first. */
  offers: { action: string; model?: string; label: string; runs: number }[];
}

/** Which open suggestions are answered together, and how. */
export interface ManyAnswers {
  kind?: Kind;
  provider?: string;
  session?: string;
  label?: string[];
  text?: string;
  runs?: string[];
  /** An action's kind; by default the one that each run suggests. */
  action?: string;
  model?: string;
  /** Only say what would be done. */
  dryRun?: boolean;
  limit?: number;
}

/** What became of one of the suggestions that were answered together. */
export interface AnsweredOne {
  run: string;
  title: string;
  state: 'would' | 'sent' | 'none' | 'failed';
  action?: string;
  model?: string;
  label?: string;
  detail?: string;
}

/** What the runs of a session start with. */
export interface Defaults {
  model?: string;
  autoRecover?: boolean;
  timeouts?: Record<string, number>;
}

/** A conversation. */
export interface Session {
  id: string;
  defaults: Defaults;
  /** Newest first. */
  runs: Listed[];
  next?: string;
}

/** A conversation in a list. */
export interface SessionListed {
  id: string;
  /** What a person called it, or else the beginning of the first thing that was said in it. */
  title: string;
  runs: number;
  last: Listed;
}

/** A model that may be chosen. */
export interface Model {
  name: string;
  provider: string;
  ready: boolean;
  /** The environment variable that its key is read from, if there is one. */
  keyEnv?: string;
  default?: boolean;
  contextTokens?: number;
  /** It is known to take no pictures. */
  noImages?: boolean;
  cooling?: { until: string; kind: string };
}

/** A recovery plugin and how it is. */
export interface Plugin {
  name: string;
  version?: string;
  state: string;
  since?: string;
  lastError?: string;
  shadow?: boolean;
  /** It starts only as the program that was pinned. */
  pinned?: boolean;
  restarts?: number;
  /** Of its last answers, in milliseconds. */
  p50Ms?: number;
  p99Ms?: number;
  /** No model call begins without its answer, so that it cannot be disabled here. */
  failClosed?: boolean;
  /** What became of what it said about failures, since then; absent where it was not asked. */
  votes?: { since: string; won: number; agreed: number; overruled: number; silent: number; failed: number; trialAgreed: number; trialDisagreed: number };
  /** Who disabled it, and when. */
  disabled?: { by: string; at: string };
  /** The last lines that it wrote to standard error. */
  said?: string[];
}

/** How the providers do, as the gateway's process has counted since then. */
export interface Providers {
  since: string;
  /** What runs have used today: those of this process, or where there is a budget of the day, those of all processes. */
  spent: { tokens?: number; microdollars?: number };
  budget?: { tokens?: number; microdollars?: number };
  providers: Provider[];
}

/** A provider entry and its models. */
export interface Provider {
  name: string;
  /** Its name for people. */
  title: string;
  /** Calls that wait for their turn: the provider said that it has too much to do. */
  queued: number;
  cooling?: { until: string; kind: Kind };
  models: ModelCalls[];
}

/** What became of the calls of a model. */
export interface ModelCalls {
  name: string;
  ready: boolean;
  calls: number;
  failed: number;
  /** Of what kind they were, the most frequent first. */
  failures: { kind: Kind; calls: number }[];
  inAir?: number;
  /** The time to the first of an answer, of the last 256 calls that were answered, in milliseconds. */
  firstP50Ms?: number;
  firstP95Ms?: number;
  cooling?: { until: string; kind: Kind };
  tokensToday?: number;
  microdollarsToday?: number;
}

/** A model that fails when it is told to. */
export interface Lab {
  /** Its name, and that of another one that answers; absent where there is none. */
  model?: string;
  fallback?: string;
  /** Timers in milliseconds that let one watch. */
  timeouts?: Record<string, number>;
  faults: LabFault[];
}

/** A failure that can be watched. */
export interface LabFault {
  name: string;
  title: string;
  /** What the provider does, in a sentence. */
  does: string;
  /** A question to watch it with. */
  prompt: string;
}

/** Which providers take an API key, and the model servers of the gateway's computer. */
export interface Keys {
  /** Keys can be kept by way of the gateway. */
  keeps: boolean;
  /** They are kept in the keyring of the gateway's system, not in a file. */
  keyring?: boolean;
  /** Why kept keys are not used now, and what to do about it. */
  problem?: string;
  providers: KeyProvider[];
  local: LocalServer[];
}

/** A provider that takes a key. */
export interface KeyProvider {
  name: string;
  title: string;
  /** The environment variable that its key is read from. */
  keyEnv: string;
  /** Where its key is from: "environment", which counts, or "kept"; absent where it has none. */
  from?: string;
  kept?: boolean;
  /** The model that is asked where its key is tried. */
  model?: string;
  /** Where it makes keys. */
  page?: string;
}

/** A model server on the gateway's computer, which needs no key. */
export interface LocalServer {
  name: string;
  title: string;
  /** By their full names. */
  models: string[];
}

/** What became of a trial of a key. */
export interface KeyTried {
  model: string;
  answered: boolean;
  ms: number;
  failure?: Failure;
}

/** A kind that a failure may be called by. */
export interface KindListed {
  kind: Kind;
  /** What failed so may be sent again as it is. */
  retryable: boolean;
}

/** What a run's error really is. */
export interface Correction {
  kind: Kind;
  /** The kind that it has now. */
  was: Kind;
}

/** What became of a correction. */
export interface Lesson {
  before: Kind;
  after: Kind;
  /** What was written, and where; absent where it is so already. */
  row?: string;
  file?: string;
  /** What is dangerous about it. */
  warning?: string;
}

/** A person's answer to a suggestion, to a live wait, or to a model call that is cut short. */
export interface Choice {
  /** Its id; the one that is open by default. */
  suggestion?: string;
  /** An action's id, or its kind. */
  action: string;
  /** With a switch: another model that the run may use. */
  model?: string;
}
