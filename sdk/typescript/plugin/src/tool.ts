import { ToolAction, ToolSafety as WireToolSafety, type ToolErrorRequest, type ToolErrorResponse } from "./gen/mulligan/v1/plugin.js";
import { name, type Names, seconds } from "./event.js";
import { milliseconds, text } from "./reply.js";
import { type Message, newTranscript } from "./transcript.js";

/** Whether a tool may run twice; `""` means `unsafe`. */
export type ToolSafety = Names<typeof WireToolSafety>;

/**
 * A tool call that failed, before the model is told. It holds no secret and, apart from an
 * `error` and a `transcript` that were granted, no prompt and no tool's arguments or results.
 * Durations are in seconds. Texts that are not set are empty.
 */
export interface ToolError {
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

  /** The tool that failed. */
  readonly tool: string;
  /** The id that the model gave the call. */
  readonly callId: string;
  /** Whether the tool may run twice. */
  readonly safety: ToolSafety;
  /** How often the call was made. */
  readonly tries: number;
  /** How often it may still be made; 0 = it is never repeated. */
  readonly remainingTries: number;
  /** How many calls of this tool have failed in this run, this one included. */
  readonly failures: number;
  /** Time was over for it. */
  readonly timedOut: boolean;
  /** How long it took, in seconds. */
  readonly took: number;
  /** What the tool said, at most 8 KiB; empty unless the transcript was granted. */
  readonly error: string;
  /** The model that asked for the call, provider/model. */
  readonly model: string;
  /** Which model call of the run asked for it, from 1. */
  readonly round: number;
  /** Whether the run recovers by itself; if not, a person is asked in the place of a retry. */
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
  /** When it failed; undefined = the host did not say. */
  readonly time: Date | undefined;
  /** Nothing comes of the answer: do nothing that can be felt outside. */
  readonly dryRun: boolean;
  /** As in {@link FailureEvent}. */
  readonly transcript?: readonly Message[] | undefined;
}

/** What is done about a tool that failed; {@link runAgain}, {@link tell} and {@link ask} make one. */
export type ToolAdvice =
  | { readonly tool: "retry"; readonly after?: number | undefined; readonly reason?: string | undefined }
  | { readonly tool: "tell"; readonly words: string; readonly reason?: string | undefined }
  | { readonly tool: "ask"; readonly reason?: string | undefined };

/** Makes the same call again, after at most 60 s, where the tool may run twice and `remainingTries` allows it. */
export function runAgain(options: { readonly after?: number | undefined; readonly reason?: string | undefined } = {}): ToolAdvice {
  return { tool: "retry", ...said(options) };
}

/** Tells the model these words, at most 8 KiB, in the place of what the tool said. */
export function tell(words: string, options: { readonly reason?: string | undefined } = {}): ToolAdvice {
  return { tool: "tell", words, ...said(options) };
}

/** Asks a person: to tell the model, to have the call made again, or to stop. */
export function ask(reason?: string): ToolAdvice {
  return { tool: "ask", ...said({ reason }) };
}

/** Leaves out what is undefined, so that advice that says the same is deeply equal. */
function said<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}

/** Converts what a host sent. */
export function newToolError(m: ToolErrorRequest): ToolError {
  return {
    run: m.run, session: m.session, sessionKey: m.sessionKey, agentId: m.agentId, labels: m.labels,
    tool: m.tool, callId: m.callId, safety: name(WireToolSafety, "tool_safety", m.safety), tries: m.tries, remainingTries: m.remainingTries,
    failures: m.failures, timedOut: m.timedOut, took: seconds(m.tookMs), error: m.error, model: m.model, round: m.round, autoRecover: m.autoRecover,
    spentTokens: Number(m.spent?.tokens ?? 0), spentMicrodollars: Number(m.spent?.microdollars ?? 0),
    remainingTokens: Number(m.remaining?.tokens ?? 0), remainingMicrodollars: Number(m.remaining?.microdollars ?? 0),
    elapsed: seconds(m.elapsedMs), remainingTime: seconds(m.remainingMs), time: m.time, dryRun: m.dryRun,
    transcript: newTranscript(m.transcript),
  };
}

const actions = new Map<unknown, ToolAction>(Object.entries({
  retry: ToolAction.RETRY, tell: ToolAction.TELL, ask: ToolAction.ASK,
} satisfies Record<ToolAdvice["tool"], ToolAction>));

/** Converts what the author's function gave; throws a TypeError for what an answer cannot hold. */
export function newToolReply(given: unknown): ToolErrorResponse {
  if (given === undefined || given === null) {
    return { action: ToolAction.UNSPECIFIED, delayMs: 0n, words: "", reason: "" };
  }
  const { tool, after, words, reason } = given as { tool?: unknown; after?: unknown; words?: unknown; reason?: unknown };
  const action = actions.get(tool);
  if (action === undefined) {
    throw new TypeError("not advice about a tool: give what runAgain, tell or ask makes, or undefined for no opinion");
  }
  return { action, delayMs: milliseconds(after ?? 0), words: text("words", words), reason: text("reason", reason) };
}
