import type { Action as WireAction } from "./gen/mulligan/v1/decision.js";

/** What to do: ask the same model again, ask another one, or give up. */
export type Action = Lowercase<Exclude<keyof typeof WireAction, "UNSPECIFIED">>;

/**
 * Advice about a failure; {@link retry}, {@link switchTo} and {@link fail} make one.
 * A decision that the host finds invalid counts as no opinion, and is recorded.
 */
export interface Decision {
  /** What to do. */
  readonly action: Action;
  /** How long to wait first, in seconds: 0 or more, at most 7 days. */
  readonly after?: number | undefined;
  /** For switch_model: one of the event's `alternatives`. */
  readonly model?: string | undefined;
  /** For people; 500 bytes are kept. */
  readonly reason?: string | undefined;
  /** Extra buttons, at most 8. */
  readonly actions?: readonly Button[] | undefined;
  /** What the next attempt changes. */
  readonly adjust?: Adjust | undefined;
  /** What is forbidden from now on. */
  readonly restrict?: Restrict | undefined;
}

/**
 * Advice in the words of the original contract, taken as it is: `switch` is `switch_model`,
 * and its delay is in milliseconds.
 */
export interface Contract {
  readonly action: Action | "switch";
  readonly delayMs?: number | undefined;
  readonly newModel?: string | undefined;
  readonly new_model?: string | undefined;
  readonly reason?: string | undefined;
}

/** One action that a person may choose. */
export interface Button {
  /** For example `retry`, `switch_model` or `edit`; a client draws a kind that it does not know by its label. */
  readonly kind: string;
  /** What it says on it. */
  readonly label?: string | undefined;
  /** Who acts: the runner, to which the choice is posted back, or the client itself. */
  readonly effect: "runner" | "client";
  /** The model that it is about, provider/model. */
  readonly model?: string | undefined;
  /** Whether it is the one to offer first. */
  readonly primary?: boolean | undefined;
  /** Where it leads, http or https. Without it, one of a kind of your own comes back in `pressed`. */
  readonly url?: string | undefined;
}

/** What the next attempt changes. What is not set stays as it is. */
export interface Adjust {
  /** Shorten the conversation first. */
  readonly compact?: boolean | undefined;
  /** The output limit, in tokens. */
  readonly maxOutputTokens?: number | undefined;
  /** How hard the model should think. */
  readonly reasoningEffort?: "low" | "medium" | "high" | undefined;
  /** Go on from the partial answer of the attempt that failed; where nothing can, begin anew. */
  readonly continue?: boolean | undefined;
}

/**
 * What is forbidden from now on, whoever advises or chooses it, until the plugin answers about the run
 * again. It stands beside a decision, or alone: {@link forbid}.
 */
export interface Restrict {
  /** Models by their full names, and entries as in `openai/*`; at most 64. */
  readonly never?: readonly string[] | undefined;
  /**
   * The most that a million output tokens may cost, in millionths of a dollar; undefined = any price.
   * A model whose price is not known is forbidden then.
   */
  readonly maxOutputPrice?: number | undefined;
  /** Only models that are served on this machine. */
  readonly local?: boolean | undefined;
}

/** No opinion, and a restriction; {@link forbid} makes one. */
export interface Restriction {
  readonly restrict: Restrict;
  /** For people; 500 bytes are kept. */
  readonly reason?: string | undefined;
}

/** What {@link fail} may say beside. */
export type FailOptions = Pick<Decision, "reason" | "actions" | "restrict">;

/** What {@link retry} may say beside. */
export type RetryOptions = Omit<Decision, "action" | "model">;

/** What {@link switchTo} may say beside. */
export type SwitchOptions = RetryOptions;

/** Asks the same model again, after `after` seconds if that is given. */
export function retry(options: RetryOptions = {}): Decision {
  return { action: "retry", ...said(options) };
}

/** Asks another model, one of the event's `alternatives`. */
export function switchTo(model: string, options: SwitchOptions = {}): Decision {
  return { action: "switch_model", model, ...said(options) };
}

/** Gives up. */
export function fail(options: FailOptions = {}): Decision {
  return { action: "fail", ...said(options) };
}

/** Has no opinion, and forbids models. */
export function forbid(restrict: Restrict, options: Pick<Restriction, "reason"> = {}): Restriction {
  return { restrict, ...said(options) };
}

/** Leaves out what is undefined, so that decisions that say the same are deeply equal. */
function said<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
