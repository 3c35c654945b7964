/**
 * What a test of a plugin's functions needs: events, calls, tools that failed and ends of runs.
 *
 * ```ts
 * import { event } from "@mulligan-run/plugin/testing";
 *
 * assert.deepEqual(rules(event({ kind: "rate_limit", retryAfter: 30 })), retry({ after: 30 }));
 * ```
 *
 * @module
 */
import type { Failure, FailureEvent } from "./event.js";
import type { ModelCall, RunEnded } from "./occasions.js";
import type { ToolError } from "./tool.js";

/** Some fields of an event, and of its failure. */
export type EventFields = Partial<Omit<FailureEvent, "failure">> & { readonly failure?: Partial<Failure> };

/**
 * Makes an event. What is not given is as a host sends it for the first failure of a
 * run without limits. What the event shares with its failure (`kind`, `retryAfter`, …)
 * and `alternatives` with `models` need be given only once.
 */
export function event(fields: EventFields = {}): FailureEvent {
  const failure = newFailure(fields);
  const { kind, code, provider, retryable, retryAfter, resetsAt } = failure;
  const models = fields.models ?? (fields.alternatives ?? []).map((model) => ({ model, contextTokens: 0 }));
  const model = fields.model ?? "test/model";
  return {
    run: "run-1", session: "", model, attempt: 0, retries: 0, maxRetries: 3, autoRecover: true,
    elapsed: 0, remainingTokens: 0, remainingMicrodollars: 0, remainingAttempts: 10, remainingTime: 0,
    tried: [], replaySafety: "safe", unsafeTools: [], partialShown: false, idleBreaker: false, idleExpiries: 0, time: undefined, dryRun: false, pressed: "",
    sessionKey: "", agentId: "", aborted: false, timedOut: false, promptError: "",
    labels: {}, spentTokens: 0, spentMicrodollars: 0, inputTokens: 0, tools: [], images: false, schema: false,
    about: { model, contextTokens: 0 }, cooling: [], failedKinds: kind === "" ? [] : [kind], recentCalls: [],
    transcript: undefined,
    ...fields,
    kind, code, provider, retryable, retryAfter, resetsAt, failure, models,
    alternatives: fields.alternatives ?? models.map((a) => a.model),
  };
}

/**
 * Makes a model call that is about to begin. What is not given is as a host sends it for the
 * first call of a run without limits. `alternatives` with `models`, and `model` with `about`,
 * need be given only once.
 */
export function modelCall(fields: Partial<ModelCall> = {}): ModelCall {
  const about = fields.about ?? { model: fields.model ?? "test/model", contextTokens: 0 };
  const models = fields.models ?? (fields.alternatives ?? []).map((model) => ({ model, contextTokens: 0 }));
  return {
    run: "run-1", session: "", sessionKey: "", agentId: "", labels: {}, round: 1, attempt: 0, tried: [], summary: false,
    inputTokens: 0, tools: [], images: false, schema: false, failedKinds: [], recentCalls: [], holds: 0, autoRecover: true, spentTokens: 0, spentMicrodollars: 0,
    remainingTokens: 0, remainingMicrodollars: 0, elapsed: 0, remainingTime: 0, time: undefined, dryRun: false, transcript: undefined,
    ...fields,
    model: about.model, about, models, alternatives: fields.alternatives ?? models.map((a) => a.model),
  };
}

/** Makes a tool call that failed. What is not given is that of a tool that changes nothing, in a run without limits. */
export function toolError(fields: Partial<ToolError> = {}): ToolError {
  return {
    run: "run-1", session: "", sessionKey: "", agentId: "", labels: {}, tool: "search", callId: "call-1", safety: "read_only", tries: 1,
    remainingTries: 1, failures: 1, timedOut: false, took: 1, error: "", model: "test/model", round: 1, autoRecover: true,
    spentTokens: 0, spentMicrodollars: 0, remainingTokens: 0, remainingMicrodollars: 0, elapsed: 0, remainingTime: 0,
    time: undefined, dryRun: false, transcript: undefined,
    ...fields,
  };
}

/** Makes the end of a run. What is not given is that of a run that was completed by its first call. */
export function runEnded(fields: Partial<RunEnded> = {}): RunEnded {
  const model = fields.model ?? fields.chosenModel ?? "test/model";
  return {
    run: "run-1", session: "", sessionKey: "", agentId: "", labels: {}, status: "completed", stopReason: "completed",
    recovered: false, attempts: 1, failedAttempts: 0, switches: 0, kinds: [], recoveryTime: 0, wastedTokens: 0, wastedMicrodollars: 0,
    spentTokens: 0, spentMicrodollars: 0, elapsed: 0, time: undefined, failure: undefined, dryRun: false,
    ...fields,
    model, chosenModel: fields.chosenModel ?? model,
  };
}

function newFailure(fields: EventFields): Failure {
  const { kind = "unavailable", code = "", provider = "test", retryable = true, retryAfter, resetsAt } = fields;
  return {
    variant: "", origin: "model", phase: "before_first_event", model: fields.model ?? "test/model",
    httpStatus: 0, providerCode: "", requestId: "", tool: "", timer: "", limit: undefined, elapsed: 0,
    lastStep: "", lastStepElapsed: 0, title: "", message: "", detail: "",
    kind, code, provider, retryable, retryAfter, resetsAt,
    ...fields.failure,
  };
}
