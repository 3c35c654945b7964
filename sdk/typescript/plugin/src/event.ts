import { Alternative as WireAlternative, type Price as WirePrice, type Tried as WireTried } from "./gen/mulligan/v1/decision.js";
import {
  Failure as WireFailure,
  Kind as WireKind,
  Origin as WireOrigin,
  Phase as WirePhase,
  Timer as WireTimer,
} from "./gen/mulligan/v1/failure.js";
import { type RecentCall as WireRecentCall, ReplaySafety as WireReplaySafety, type RunErrorRequest } from "./gen/mulligan/v1/plugin.js";
import { type Message, newTranscript } from "./transcript.js";

/**
 * The names of an enum; `""` is not set. A newer host may send others, which are read as any
 * text, though no name of theirs is known here.
 */
export type Names<E> = Lowercase<Exclude<keyof E & string, "UNSPECIFIED" | "UNRECOGNIZED">> | "";

/**
 * What went wrong. A newer host may send a kind that is not among these: go by `retryable` where
 * you do not know it, or have no opinion. `const kind: string = e.kind` compares it with anything.
 */
export type Kind = Names<typeof WireKind>;

/** Whose failure it is. */
export type Origin = Names<typeof WireOrigin>;

/** How far the attempt had come. */
export type Phase = Names<typeof WirePhase>;

/** A clock. */
export type Timer = Names<typeof WireTimer>;

/** Whether the attempt may be repeated without doing something twice; `""` means `unknown`. */
export type ReplaySafety = Names<typeof WireReplaySafety>;

/**
 * A failure and what a decision may depend on. It holds no secret and, apart from a
 * `transcript` that was granted, no prompt and no tool's arguments or results. Durations
 * are in seconds. Texts that are not set are empty.
 */
export interface FailureEvent {
  /** The id of the run. */
  readonly run: string;
  /** The id of its session; may be empty. */
  readonly session: string;

  /** What went wrong; new kinds may appear. The same as `failure.kind`. */
  readonly kind: Kind;
  /** The stable upper-case name, for example `MODEL_PROVIDER_TIMEOUT`; several kinds share one. */
  readonly code: string;
  /** The configured provider, for example `anthropic`. */
  readonly provider: string;
  /** Whether the same input may succeed later. */
  readonly retryable: boolean;
  /** What the provider demands to wait, in seconds; undefined = nothing demanded. */
  readonly retryAfter: number | undefined;
  /** When the quota starts anew; undefined = not known. */
  readonly resetsAt: Date | undefined;
  /** All that is known about the failure. */
  readonly failure: Failure;

  /** The model that failed, provider/model. */
  readonly model: string;
  /** The number of the attempt within one model call, from 0. */
  readonly attempt: number;
  /** The retries of this model call so far. */
  readonly retries: number;
  /** The retries that the policy allows for one model call. */
  readonly maxRetries: number;
  /** Whether the decision is acted on; if not, it is offered to a person. */
  readonly autoRecover: boolean;

  /** Since the run began, in seconds, deliberate long waits left out. */
  readonly elapsed: number;
  /** Tokens that are left; 0 = unlimited, -1 = used up. Exact up to 2^53. */
  readonly remainingTokens: number;
  /** Millionths of a dollar that are left; 0 = unlimited, -1 = used up. Exact up to 2^53. */
  readonly remainingMicrodollars: number;
  /** Attempts of this model call that are left, under the limit that no policy lifts. */
  readonly remainingAttempts: number;
  /** Until the run's time is over, in seconds; 0 = unlimited, negative = used up. */
  readonly remainingTime: number;

  /** What {@link switchTo} may name, in order of preference. */
  readonly alternatives: readonly string[];
  /** The alternatives with what is known about them. */
  readonly models: readonly Alternative[];
  /** The failed attempts of this model call. */
  readonly tried: readonly Tried[];

  /** Whether the attempt may be repeated without doing something twice. */
  readonly replaySafety: ReplaySafety;
  /** The tools that make it unsafe. */
  readonly unsafeTools: readonly string[];
  /** Whether people saw text of the failed attempt. */
  readonly partialShown: boolean;
  /** Too many idle expiries in a row: nothing is retried by itself. */
  readonly idleBreaker: boolean;
  /** Idle expiries in a row without a finished step. */
  readonly idleExpiries: number;

  /** The words by which the run can be listed. */
  readonly labels: Readonly<Record<string, string>>;
  /** Tokens that the run has used so far. */
  readonly spentTokens: number;
  /** Millionths of a dollar that the run has used so far. */
  readonly spentMicrodollars: number;
  /** What is sent, in tokens, about. */
  readonly inputTokens: number;
  /** The names of the tools that the model may use. */
  readonly tools: readonly string[];
  /** There are pictures in the conversation. */
  readonly images: boolean;
  /** The answer has to keep to a JSON schema. */
  readonly schema: boolean;
  /** The model that failed, with what is known about it. */
  readonly about: Alternative;
  /** Models that could be asked, and are no alternatives because they cool down. */
  readonly cooling: readonly Alternative[];
  /** What failed in the run so far, this failure included: the kind of each attempt, in order, the newest 64. */
  readonly failedKinds: readonly string[];
  /** How the last calls of the model's entry ended, of all runs of the host, the newest last; at most 20. */
  readonly recentCalls: readonly RecentCall[];

  /** When the attempt failed; undefined = the host did not say. */
  readonly time: Date | undefined;
  /**
   * Nothing comes of the answer, since a failure is replayed or the plugin is tested: do
   * nothing that can be felt outside.
   */
  readonly dryRun: boolean;
  /** The kind of your own button that a person has pressed: what you answer now is done. "" = you are asked about the failure itself. */
  readonly pressed: string;
  /** What the caller itself calls its conversation; may be empty. */
  readonly sessionKey: string;
  /** What the caller itself calls its agent; may be empty. */
  readonly agentId: string;
  /** The attempt was ended from our side: a timer fired, its process died, or a person did not wait for it. */
  readonly aborted: boolean;
  /** Time was over: that of one of our timers, or what the provider itself had. */
  readonly timedOut: boolean;
  /** Why the prompt could not become a request; empty if it could. */
  readonly promptError: string;

  /**
   * What was said in the run so far: the newest messages, at most 1 MiB of JSON. Only for a
   * plugin that asks for it with `transcript: messages` in its mulligan-plugin.yaml, and was
   * granted it; undefined for all others.
   */
  readonly transcript?: readonly Message[] | undefined;
}

/** What went wrong with an attempt. It never holds a secret. */
export interface Failure {
  /** What went wrong; new kinds may appear. */
  readonly kind: Kind;
  /** The stable upper-case name, for example `MODEL_PROVIDER_TIMEOUT`; several kinds share one. */
  readonly code: string;
  /** A finer word for people, for example `missing` or `stalled`; may be empty. */
  readonly variant: string;
  /** Whose failure it is. */
  readonly origin: Origin;
  /** How far the attempt had come. */
  readonly phase: Phase;
  /** Whether the same input may succeed later. */
  readonly retryable: boolean;
  /** The configured provider, for example `anthropic`. */
  readonly provider: string;
  /** The full name, provider/model. */
  readonly model: string;
  /** The HTTP status; 0 = none. */
  readonly httpStatus: number;
  /** The code in the provider's body. */
  readonly providerCode: string;
  /** The provider's id of the request. */
  readonly requestId: string;
  /** The tool, where one failed. */
  readonly tool: string;
  /** What the provider demands to wait, in seconds; undefined = nothing demanded. */
  readonly retryAfter: number | undefined;
  /** When the quota starts anew; undefined = not known. */
  readonly resetsAt: Date | undefined;
  /** The clock that fired. */
  readonly timer: Timer;
  /** What that clock was set to, in seconds; undefined = no clock fired. */
  readonly limit: number | undefined;
  /** How long the attempt, step or run had taken, in seconds. */
  readonly elapsed: number;
  /** What finished last: a tool's name, `answer`, or nothing. */
  readonly lastStep: string;
  /** How long the last step took, or has been going on, in seconds. */
  readonly lastStepElapsed: number;
  /** For people: the headline. */
  readonly title: string;
  /** For people: what follows the headline; never repeats it. */
  readonly message: string;
  /** The provider's own words: at most 8 KiB, secrets removed. */
  readonly detail: string;
}

/** A model that the run could be switched to. */
export interface Alternative {
  /** The full name, provider/model. */
  readonly model: string;
  /** The size of its context in tokens; 0 = not known. */
  readonly contextTokens: number;
  /** What it costs; undefined = not known. Some cost nothing. */
  readonly price?: Price | undefined;
  /** It is served on this machine. */
  readonly local?: boolean;
  /** What it cannot take: `images`, `tools`, `schema`. */
  readonly lacks?: readonly string[];
  /** It cools down until then, and is not asked by itself; undefined = it does not. */
  readonly coolsUntil?: Date | undefined;
  /** Because of a failure of that kind; may be empty. */
  readonly coolingKind?: string;
  /** How its last call ended, of all runs of the host: `well` or `failing`; empty = not known. */
  readonly health?: string;
}

/** How a model call ended that is over. */
export interface RecentCall {
  /** The full name, provider/model. */
  readonly model: string;
  /** The kind of its failure; empty = it was answered. */
  readonly kind: string;
  /** When it ended; undefined = not known. */
  readonly at: Date | undefined;
}

/** What a million tokens of a model cost, in millionths of a dollar. */
export interface Price {
  readonly input: number;
  readonly output: number;
  /** Of input that is read from a cache; 0 = as other input. */
  readonly cacheRead: number;
  /** Of input that is written to a cache; 0 = as other input. */
  readonly cacheWrite: number;
}

/** One failed attempt of a model call. */
export interface Tried {
  /** From 0, within the model call. */
  readonly attempt: number;
  /** The full name, provider/model. */
  readonly model: string;
  /** The code of its failure. */
  readonly code: string;
  /** When it began; undefined = not known. */
  readonly at: Date | undefined;
  /** How long it took, in seconds. */
  readonly duration: number;
}

/** Converts what a host sent. */
export function newEvent(m: RunErrorRequest): FailureEvent {
  const failure = newFailure(m.failure ?? WireFailure.decode(new Uint8Array()));
  const models = m.alternatives.map(newAlternative);
  const { kind, code, provider, retryable, retryAfter, resetsAt } = failure;
  return {
    run: m.run, session: m.session,
    kind, code, provider, retryable, retryAfter, resetsAt, failure,
    model: m.model, attempt: m.attempt, retries: m.retries, maxRetries: m.maxRetries, autoRecover: m.autoRecover,
    elapsed: seconds(m.elapsedMs),
    remainingTokens: Number(m.remaining?.tokens ?? 0), remainingMicrodollars: Number(m.remaining?.microdollars ?? 0),
    remainingAttempts: m.remainingAttempts, remainingTime: seconds(m.remainingMs),
    alternatives: models.map((a) => a.model), models, tried: m.tried.map(newTried),
    replaySafety: name(WireReplaySafety, "replay_safety", m.replaySafety), unsafeTools: m.unsafeTools,
    partialShown: m.partialShown, idleBreaker: m.idleBreaker, idleExpiries: m.idleExpiries,
    time: m.time, dryRun: m.dryRun, pressed: m.pressed,
    labels: m.labels, spentTokens: Number(m.spent?.tokens ?? 0), spentMicrodollars: Number(m.spent?.microdollars ?? 0),
    inputTokens: Number(m.inputTokens), tools: m.tools, images: m.images, schema: m.schema,
    about: newAlternative(m.about ?? WireAlternative.decode(new Uint8Array())), cooling: m.cooling.map(newAlternative),
    failedKinds: m.failedKinds, recentCalls: m.recentCalls.map(newRecentCall),
    sessionKey: m.sessionKey, agentId: m.agentId, aborted: m.aborted, timedOut: m.timedOut, promptError: m.promptError,
    transcript: newTranscript(m.transcript),
  };
}

export function newFailure(m: WireFailure): Failure {
  return {
    kind: name(WireKind, "kind", m.kind, m.kindName), code: m.code, variant: m.variant,
    origin: name(WireOrigin, "origin", m.origin, m.originName), phase: name(WirePhase, "phase", m.phase, m.phaseName),
    retryable: m.retryable, provider: m.provider, model: m.model,
    httpStatus: m.httpStatus, providerCode: m.providerCode, requestId: m.requestId, tool: m.tool,
    retryAfter: secondsIfSet(m.retryAfterMs), resetsAt: m.resetsAt,
    timer: name(WireTimer, "timer", m.timer, m.timerName), limit: secondsIfSet(m.limitMs), elapsed: seconds(m.elapsedMs),
    lastStep: m.lastStep, lastStepElapsed: seconds(m.lastStepElapsedMs), title: m.title, message: m.message, detail: m.detail,
  };
}

export function newAlternative(m: WireAlternative): Alternative {
  return {
    model: m.model, contextTokens: Number(m.contextTokens), price: m.price && newPrice(m.price), local: m.local,
    lacks: m.lacks, coolsUntil: m.coolsUntil, coolingKind: m.coolingKind, health: m.health,
  };
}

export function newRecentCall(m: WireRecentCall): RecentCall {
  return { model: m.model, kind: m.kind, at: m.at };
}

function newPrice(m: WirePrice): Price {
  return { input: Number(m.input), output: Number(m.output), cacheRead: Number(m.cacheRead), cacheWrite: Number(m.cacheWrite) };
}

export function newTried(m: WireTried): Tried {
  return { attempt: m.attempt, model: m.model, code: m.code, at: m.at, duration: seconds(m.ms) };
}

export function seconds(ms: bigint): number {
  return Number(ms) / 1000;
}

function secondsIfSet(ms: bigint): number | undefined {
  return ms === 0n ? undefined : seconds(ms);
}

/**
 * Makes one string of an enum's number and its companion, by docs/plugin-protocol.md, "The event".
 * What a newer host says is passed on, whatever the type knows.
 */
export function name<E extends Record<string, string | number>>(names: E, prefix: string, value: number, companion = ""): Names<E> {
  const known = names[value];
  const text = value === 0 ? companion : typeof known === "string" ? known.toLowerCase() : `${prefix}_${value}`;
  return text as Names<E>;
}
