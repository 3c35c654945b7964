import { Verdict as WireVerdict, type BeforeCallResponse } from "./gen/mulligan/v1/plugin.js";
import { text } from "./reply.js";

/**
 * What is said of a model call that is about to begin; {@link allow}, {@link route},
 * {@link hold} and {@link refuse} make one. Of several plugins' the strictest counts.
 */
export type Verdict =
  | { readonly verdict: "allow"; readonly reason?: string | undefined }
  | { readonly verdict: "route"; readonly model: string; readonly reason?: string | undefined }
  | { readonly verdict: "hold"; readonly until: Date; readonly reason?: string | undefined }
  | { readonly verdict: "refuse"; readonly reason?: string | undefined };

/** What a verdict may say beside: for people; 500 bytes are kept. */
export interface VerdictOptions {
  readonly reason?: string | undefined;
}

/** The call may begin. */
export function allow(options: VerdictOptions = {}): Verdict {
  return { verdict: "allow", ...said(options) };
}

/** Asks another model, one of the call's `alternatives`; all plugins are asked about that one then. */
export function route(model: string, options: VerdictOptions = {}): Verdict {
  return { verdict: "route", model, ...said(options) };
}

/** Waits until a time within 7 days; the plugins are asked again then. */
export function hold(until: Date, options: VerdictOptions = {}): Verdict {
  return { verdict: "hold", until, ...said(options) };
}

/** The model is not asked for this call; the reason tells people why. */
export function refuse(reason?: string): Verdict {
  return { verdict: "refuse", ...said({ reason }) };
}

/** Leaves out a reason that is undefined, so that verdicts that say the same are deeply equal. */
function said({ reason }: VerdictOptions): VerdictOptions {
  return reason === undefined ? {} : { reason };
}

const verdicts = new Map<unknown, WireVerdict>(Object.entries({
  allow: WireVerdict.ALLOW, route: WireVerdict.ROUTE, hold: WireVerdict.HOLD, refuse: WireVerdict.REFUSE,
} satisfies Record<Verdict["verdict"], WireVerdict>));

/** Converts what the author's function gave; throws a TypeError for what an answer cannot hold. */
export function newVerdict(given: unknown): BeforeCallResponse {
  if (given === undefined || given === null) {
    return { verdict: WireVerdict.UNSPECIFIED, model: "", until: undefined, reason: "" };
  }
  const { verdict, model, until, reason } = given as { verdict?: unknown; model?: unknown; until?: unknown; reason?: unknown };
  const known = verdicts.get(verdict);
  if (known === undefined) {
    throw new TypeError("not a verdict: give what allow, route, hold or refuse makes, or undefined for no opinion");
  }
  if (until !== undefined && !(until instanceof Date && Number.isFinite(until.getTime()))) {
    throw new TypeError("until must be a Date");
  }
  return { verdict: known, model: text("model", model), until, reason: text("reason", reason) };
}
