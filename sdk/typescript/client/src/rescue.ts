import type { Decision, Failure, Status, Vote } from './event.js';

/** A run in retrospect, or as far as it has come. */
export interface Rescue {
  run: string;
  session?: string;
  title: string;
  /** What it came to, in a sentence that can be read aloud. */
  headline: string;
  status: Status;
  /** A suggestion is open. */
  needsYou?: boolean;
  autoRecover: boolean;
  chosenModel: string;
  model: string;
  plugins?: string[];
  startedAt: string;
  updatedAt: string;
  /** Nothing more happens to it. */
  over?: boolean;
  seq: number;
  figures: RescueFigures;
  /** What took how long, in the order in which it began. */
  spans: Span[];
  spansLeftOut?: number;
  asked: { systemBytes?: number; tools?: string[]; messages: SentMessage[]; messagesLeftOut?: number };
  /** What people were told, and when: `at` is in milliseconds after the run began. */
  said?: { at: number; text: string }[];
  answer?: string;
  /** Texts are left out; only how long they are is told. */
  redacted?: boolean;
}

/** What a headline stands on. */
export interface RescueFigures {
  tookMs: number;
  /** Of it, from failures to the answers that followed, without the time in which a person was asked. */
  rescueMs?: number;
  attempts: number;
  failedAttempts?: number;
  failures?: number;
  retries?: number;
  switches?: number;
  answers?: number;
  tools?: number;
  toolsRepeated?: number;
  kept?: { tokens?: number; microdollars?: number };
  used?: { tokens?: number; microdollars?: number };
  wastedTokens?: number;
}

/** A stretch of a run's time; `from` and `to` are in milliseconds after it began. */
export interface Span {
  kind: 'attempt' | 'tool' | 'wait' | 'person' | 'summary' | 'failure';
  state: 'open' | 'ok' | 'failed' | 'stopped' | 'unknown';
  label: string;
  detail?: string;
  model?: string;
  from: number;
  to?: number;
  seq: number;
  endSeq?: number;
  attempt?: SpanAttempt;
  tool?: { callId: string; try: number; args?: string; result?: string; outcome?: 'ok' | 'error' | 'unknown' };
  failure?: SpanFailure;
}

/** A model call of a span. */
export interface SpanAttempt {
  id: number;
  round: number;
  try: number;
  retry?: boolean;
  switched?: boolean;
  continues?: number;
  /** How many of the messages it was sent, and about how many bytes they are. */
  messages: number;
  bytes?: number;
  adjust?: Decision['adjust'];
  firstEventMs?: number;
  requestId?: string;
  tokens?: number;
  outputTokens?: number;
  microdollars?: number;
  text?: string;
  textBytes?: number;
  /** Of an attempt that failed: those of its headers that help to explain it. */
  headers?: Headers;
}

/** Headers of a request and of its answer; how many others there were. */
export interface Headers {
  sent?: Header[];
  sentMore?: number;
  received?: Header[];
  receivedMore?: number;
}

/** One header; without a value, that may be secret and was never written down. */
export interface Header {
  name: string;
  value?: string;
}

/** What went wrong, and what was known, said and decided about it. */
export interface SpanFailure {
  failure: Failure;
  confidence?: number;
  evidence?: { source: string; where?: string; value: string; decided: boolean; note?: string }[];
  offline?: boolean;
  alternatives?: { model: string }[];
  cooling?: { model: string; until: string; kind: string }[];
  votes?: (Vote & { won?: boolean; lost?: string; forbids?: string })[];
  decision?: Decision;
  /** The decision and its reason, in a sentence. */
  decided?: string;
}

/** One message of what was sent: its beginning. */
export interface SentMessage {
  role: string;
  model?: string;
  text: string;
  bytes: number;
}

/** What is supposed to have been otherwise; what is left out is as it was. */
export interface Change {
  autoRecover?: boolean;
  maxRetries?: number;
  /** The only plugin whose vote counts; it may be one on trial. */
  plugin?: string;
}

/** How a run's failures would have been decided, each judged for itself. */
export interface WhatIf {
  run: string;
  different: number;
  failures: Judged[];
  failuresLeftOut?: number;
}

/** A failure, and what was and would have been done about it. */
export interface Judged {
  seq: number;
  /** In milliseconds after the run began. */
  at: number;
  model: string;
  kind: string;
  title: string;
  then: Course;
  now: Course;
  different?: boolean;
}

/** What is done about a failure. */
export interface Course {
  action?: string;
  newModel?: string;
  delayMs?: number;
  by?: string;
  /** It is carried out; else a person is asked, or the run fails. */
  acts?: boolean;
  text: string;
}
