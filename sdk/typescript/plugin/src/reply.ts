import type { Adjust, Button, Contract, Decision, Restrict } from "./decision.js";
import { Action, type Adjust as WireAdjust, type Button as WireButton, type Restrict as WireRestrict } from "./gen/mulligan/v1/decision.js";
import { RunErrorResponse } from "./gen/mulligan/v1/plugin.js";

const actions = new Map<unknown, Action>(Object.entries({
  retry: Action.RETRY, switch_model: Action.SWITCH_MODEL, switch: Action.SWITCH_MODEL, fail: Action.FAIL,
} satisfies Record<Contract["action"], Action>));

/**
 * Converts what the author's function gave. It corrects nothing: that is the host's
 * business. It throws a TypeError for what a reply cannot hold.
 */
export function newReply(given: unknown): RunErrorResponse {
  if (given === undefined || given === null) {
    return RunErrorResponse.decode(new Uint8Array());
  }
  const decision = given as Partial<Omit<Decision, "action"> & Contract>;
  const action = decision.action === undefined && decision.restrict ? Action.UNSPECIFIED : actions.get(decision.action);
  if (action === undefined) {
    throw new TypeError("not a decision: give what retry, switchTo, fail or forbid makes, or undefined for no opinion");
  }
  return {
    action,
    delayMs: milliseconds(decision.after ?? (decision.delayMs ?? 0) / 1000),
    newModel: text("model", decision.model ?? decision.newModel ?? decision.new_model),
    reason: text("reason", decision.reason),
    actions: list("actions", decision.actions).map(newButton),
    adjust: decision.adjust ? newAdjust(decision.adjust) : undefined,
    restrict: decision.restrict ? newRestrict(decision.restrict) : undefined,
  };
}

function newRestrict(restrict: Restrict): WireRestrict {
  const price = restrict.maxOutputPrice ?? 0;
  if (!Number.isSafeInteger(price)) {
    throw new TypeError("restrict.maxOutputPrice must be a whole number");
  }
  return {
    never: list("restrict.never", restrict.never).map((name, index) => text(`restrict.never[${index}]`, name)),
    maxOutputPrice: BigInt(price),
    local: flag("restrict.local", restrict.local),
  };
}

function newButton(button: Button, index: number): WireButton {
  const where = `actions[${index}]`;
  return {
    id: "", // the runner's to give
    kind: text(`${where}.kind`, button?.kind),
    label: text(`${where}.label`, button.label),
    effect: text(`${where}.effect`, button.effect),
    model: text(`${where}.model`, button.model),
    primary: flag(`${where}.primary`, button.primary),
    url: text(`${where}.url`, button.url),
  };
}

function newAdjust(adjust: Adjust): WireAdjust {
  const tokens = adjust.maxOutputTokens ?? 0;
  if ((tokens | 0) !== tokens) {
    throw new TypeError("adjust.maxOutputTokens must be a whole number below 2^31");
  }
  return {
    compact: flag("adjust.compact", adjust.compact),
    maxOutputTokens: tokens,
    reasoningEffort: text("adjust.reasoningEffort", adjust.reasoningEffort),
    continue: flag("adjust.continue", adjust.continue),
  };
}

/**
 * Rounds away from 0, so that a positive delay never becomes none and a negative one
 * stays what it is. 15 digits are what a number holds: 0.07 s are 70 ms, not 71.
 */
export function milliseconds(seconds: unknown): bigint {
  if (typeof seconds !== "number" || !(Math.abs(seconds) < 2 ** 53 / 1000)) {
    throw new TypeError("after must be a number of seconds");
  }
  const exact = Number((seconds * 1000).toPrecision(15));
  return BigInt(exact < 0 ? Math.floor(exact) : Math.ceil(exact));
}

/** Throws a TypeError unless value is a text or not set. */
export function text(what: string, value: unknown): string {
  if (value !== undefined && value !== null && typeof value !== "string") {
    throw new TypeError(`${what} must be a string`);
  }
  return value ?? "";
}

function flag(what: string, value: unknown): boolean {
  if (value !== undefined && value !== null && typeof value !== "boolean") {
    throw new TypeError(`${what} must be true or false`);
  }
  return value ?? false;
}

function list<T>(what: string, value: readonly T[] | undefined): readonly T[] {
  if (value !== undefined && value !== null && !Array.isArray(value)) {
    throw new TypeError(`${what} must be an array`);
  }
  return value ?? [];
}
