import type { Decision, Failure, Suggestion } from './event.js';
import type { Kind } from './kind.js';

/** How long advice is waited for, in milliseconds: a program whose Mulligan is gone goes on as without it. */
export const ADVICE_MS = 250;

/** A model call that you made yourself, and that failed. */
export interface Failed {
  /** Your name for the model call, another one for each. */
  call: string;
  /** Which of its attempts failed, from 0. */
  attempt?: number;
  /** provider/model */
  model: string;
  /** The attempts before this one that you did not ask about. */
  tried?: { attempt?: number; model: string; kind?: Kind; code?: string; at?: string; ms?: number }[];
  /** Models that you could call instead, in order of preference. */
  alternatives?: string[];
  /** By default as Mulligan is configured. */
  autoRecover?: boolean;
  failure: Evidence;
  /** People have seen a part of the answer that you cannot withdraw: nothing is repeated then. */
  partialShown?: boolean;
  /** What ran before the failure, and which of it must not run twice. */
  tools?: { ran?: boolean; unsafe?: string[] };
  /** What the call may use in all; plugins are told. */
  budget?: { tokens?: number; microdollars?: number };
  /** What you call the conversation and the agent; plugins are told. */
  sessionKey?: string;
  agentId?: string;
  aborted?: boolean;
  timedOut?: boolean;
  promptError?: string;
  /** For plugins that were granted it. */
  lastAssistant?: string;
}

/** What is known of a failure. */
export interface Evidence {
  /** Of HTTP. */
  status?: number;
  headers?: Record<string, string>;
  /** At most 64 KiB. */
  body?: string;
  /** What the library says of it. */
  message?: string;
  code?: string;
  /** The type of the exception. */
  exception?: string;
  /** How far the attempt had come. */
  when?: 'before_connect' | 'before_first_event' | 'mid_stream' | 'end_of_stream' | 'prompt';
  /** What you know for sure it is; by default Mulligan finds out. */
  kind?: Kind;
}

/** What to do about a failed call: `acts` says whether to. */
export interface Advice {
  /** That the call is in Mulligan's timeline. */
  run: string;
  failure: Failure;
  decision: Decision;
  /** What a person is to be asked. */
  recoverySuggestion?: Suggestion;
  votes: { plugin: string; version?: string; action?: string; newModel?: string; delayMs?: number; reason?: string; latencyMs: number; error?: string }[];
}

/** How a call went on. */
export interface Outcome {
  call: string;
  /** There is an answer; else you give up. */
  ok?: boolean;
  failure?: Evidence;
  /** That answered or failed; by default the one that was to be asked. */
  model?: string;
}

/** Whether to act on advice: wait `delayMs`, and call `newModel` if there is one. Else fail as without Mulligan. */
export function acts({ decision, recoverySuggestion }: Advice): boolean {
  return (decision.action === 'retry' || decision.action === 'switch_model') && !decision.blockedBy && !recoverySuggestion;
}
