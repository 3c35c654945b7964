/**
 * What a test of a plugin's function needs: events.
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
  return {
    run: "run-1", session: "", model: "test/model", attempt: 0, retries: 0, maxRetries: 3, autoRecover: true,
    elapsed: 0, remainingTokens: 0, remainingMicrodollars: 0, remainingAttempts: 10, remainingTime: 0,
    tried: [], replaySafety: "safe", unsafeTools: [], partialShown: false, idleBreaker: false, idleExpiries: 0, time: undefined, dryRun: false, pressed: "",
    sessionKey: "", agentId: "", aborted: false, timedOut: false, promptError: "",
    transcript: undefined,
    ...fields,
    kind, code, provider, retryable, retryAfter, resetsAt, failure, models,
    alternatives: fields.alternatives ?? models.map((a) => a.model),
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
