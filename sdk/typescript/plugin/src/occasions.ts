import { Alternative as WireAlternative } from "./gen/mulligan/v1/decision.js";
import type { BeforeCallRequest, RunEndedRequest } from "./gen/mulligan/v1/plugin.js";
import { type Alternative, type Failure, newAlternative, newFailure, newRecentCall, newTried, type RecentCall, seconds, type Tried } from "./event.js";
import { type Message, newTranscript } from "./transcript.js";

/**
 * A model call that is about to begin. It holds no secret and, apart from a `transcript` that
 * was granted, no prompt and no tool's arguments or results. Durations are in seconds. Texts
 * that are not set are empty.
 */
export interface ModelCall {
  /** The id of the run. */
  readonly run: string;
  /** The id of its session; may be empty. */
  readonly session: string;
  /** What the caller itself calls its conversation; may be empty. */
  readonly sessionKey: string;
  /** What the caller itself calls its agent; may be empty. */
  readonly agentId: string;
  /** The words by which the run can be listed. */
  readonly labels: Readonly<Record<string, string>>;

  /** The model that is about to be asked, provider/model. */
  readonly model: string;
  /** The model with what is known about it. */
  readonly about: Alternative;
  /** What {@link route} may name, in order of preference. */
  readonly alternatives: readonly string[];
  /** The alternatives with what is known about them, in the same order. */
  readonly models: readonly Alternative[];

  /** Which model call of the run it is, from 1: several attempts may be of one. */
  readonly round: number;
  /** The number of the attempt within this model call, from 0. */
  readonly attempt: number;
  /** The failed attempts of this model call. */
  readonly tried: readonly Tried[];
  /** The call only sums up old turns of a conversation that has become too long. */
  readonly summary: boolean;
  /** What is sent, in tokens, about. */
  readonly inputTokens: number;
  /** The names of the tools that the model may use. */
  readonly tools: readonly string[];
  /** There are pictures in the conversation. */
  readonly images: boolean;
  /** The answer has to keep to a JSON schema. */
  readonly schema: boolean;
  /** What failed in the run so far, as in {@link FailureEvent}. */
  readonly failedKinds: readonly string[];
  /** How the last calls of the model's entry ended, as in {@link FailureEvent}. */
  readonly recentCalls: readonly RecentCall[];
  /** How often this call was held already. */
  readonly holds: number;
  /** Whether the run recovers by itself. */
  readonly autoRecover: boolean;

  /** Tokens that the run has used so far. */
  readonly spentTokens: number;
  /** Millionths of a dollar that the run has used so far. */
  readonly spentMicrodollars: number;
  /** Tokens that are left; 0 = unlimited, -1 = used up. Exact up to 2^53. */
  readonly remainingTokens: number;
  /** Millionths of a dollar that are left; 0 = unlimited, -1 = used up. Exact up to 2^53. */
  readonly remainingMicrodollars: number;
  /** Since the run began, in seconds, deliberate long waits left out. */
  readonly elapsed: number;
  /** Until the run's time is over, in seconds; 0 = unlimited, negative = used up. */
  readonly remainingTime: number;
  /** When the call is about to begin: rules that go by the hour go by it. Undefined = the host did not say. */
  readonly time: Date | undefined;
  /** Nothing comes of the answer: do nothing that can be felt outside. */
  readonly dryRun: boolean;
  /** As in {@link FailureEvent}. */
  readonly transcript?: readonly Message[] | undefined;
}

/**
 * How a run ended, and what it took. It holds no secret, no prompt and no answer. Durations
 * are in seconds. Texts that are not set are empty.
 */
export interface RunEnded {
  /** The id of the run. */
  readonly run: string;
  /** The id of its session; may be empty. */
  readonly session: string;
  /** What the caller itself calls its conversation; may be empty. */
  readonly sessionKey: string;
  /** What the caller itself calls its agent; may be empty. */
  readonly agentId: string;
  /** The words by which the run can be listed. */
  readonly labels: Readonly<Record<string, string>>;

  /** `completed`, `failed` or `cancelled`. */
  readonly status: string;
  /** `completed`, `failed`, `cancelled`, `timeout`, `step_timeout`, `max_turn_time` or `interrupted`. */
  readonly stopReason: string;
  /** The model that was asked for, provider/model. */
  readonly chosenModel: string;
  /** The one that was asked last. */
  readonly model: string;
  /** The run was completed although attempts had failed. */
  readonly recovered: boolean;
  /** Attempts of model calls that were begun. */
  readonly attempts: number;
  /** Of them, those that failed. */
  readonly failedAttempts: number;
  /** How often another model was asked after a failure. */
  readonly switches: number;
  /** What had failed, each kind once, in order; at most 16. */
  readonly kinds: readonly string[];
  /** From the first failure of a model call to its answer, in seconds, of all calls that were answered after all. */
  readonly recoveryTime: number;
  /** Tokens that attempts that failed have used, as far as their providers said. */
  readonly wastedTokens: number;
  /** Millionths of a dollar that they have cost. */
  readonly wastedMicrodollars: number;
  /** All tokens that the run has used. */
  readonly spentTokens: number;
  /** Millionths of a dollar that it has cost. */
  readonly spentMicrodollars: number;
  /** From its begin to its end, in seconds. */
  readonly elapsed: number;
  /** When it ended; undefined = the host did not say. */
  readonly time: Date | undefined;
  /** The failure at which it ended; undefined = it did not end at one. */
  readonly failure: Failure | undefined;
  /** The plugin is tested: do nothing that can be felt outside. */
  readonly dryRun: boolean;
}

/** Converts what a host sent. */
export function newModelCall(m: BeforeCallRequest): ModelCall {
  const about = newAlternative(m.model ?? WireAlternative.decode(new Uint8Array()));
  const models = m.alternatives.map(newAlternative);
  return {
    run: m.run, session: m.session, sessionKey: m.sessionKey, agentId: m.agentId, labels: m.labels,
    model: about.model, about, alternatives: models.map((a) => a.model), models,
    round: m.round, attempt: m.attempt, tried: m.tried.map(newTried), summary: m.summary,
    inputTokens: Number(m.inputTokens), tools: m.tools, images: m.images,
    schema: m.schema, failedKinds: m.failedKinds, recentCalls: m.recentCalls.map(newRecentCall), holds: m.holds, autoRecover: m.autoRecover,
    spentTokens: Number(m.spent?.tokens ?? 0), spentMicrodollars: Number(m.spent?.microdollars ?? 0),
    remainingTokens: Number(m.remaining?.tokens ?? 0), remainingMicrodollars: Number(m.remaining?.microdollars ?? 0),
    elapsed: seconds(m.elapsedMs), remainingTime: seconds(m.remainingMs), time: m.time, dryRun: m.dryRun,
    transcript: newTranscript(m.transcript),
  };
}

/** Converts what a host sent. */
export function newRunEnded(m: RunEndedRequest): RunEnded {
  return {
    run: m.run, session: m.session, sessionKey: m.sessionKey, agentId: m.agentId, labels: m.labels,
    status: m.status, stopReason: m.stopReason, chosenModel: m.chosenModel, model: m.model, recovered: m.recovered,
    attempts: m.attempts, failedAttempts: m.failedAttempts, switches: m.switches, kinds: m.kinds, recoveryTime: seconds(m.recoveryMs),
    wastedTokens: Number(m.wasted?.tokens ?? 0), wastedMicrodollars: Number(m.wasted?.microdollars ?? 0),
    spentTokens: Number(m.spent?.tokens ?? 0), spentMicrodollars: Number(m.spent?.microdollars ?? 0),
    elapsed: seconds(m.elapsedMs), time: m.time, failure: m.failure && newFailure(m.failure), dryRun: m.dryRun,
  };
}
