/**
 * A recovery plugin is one function. It gets a failure, and gives advice:
 *
 * ```ts
 * import { retry, serve, switchTo } from "@mulligan-run/plugin";
 *
 * serve((e) => {
 *   if (e.kind === "rate_limit" && (e.retryAfter ?? 0) <= 60) return retry({ after: e.retryAfter });
 *   const [other] = e.alternatives;
 *   if (e.attempt >= 2 && other) return switchTo(other, { reason: `${e.provider} failed ${e.attempt} times` });
 *   return undefined; // no opinion: the next plugin is asked
 * }, { name: "my-rules" });
 * ```
 *
 * A host starts the plugin and asks it about failures, several at a time and each under
 * a deadline (2 s by default). The answer is advice: limits, budgets and the order of
 * plugins decide what becomes of it. What the function throws is "no opinion"; the
 * process lives on. Standard output belongs to the protocol: what is printed goes to
 * standard error, and with it to the host's log. {@link log} adds the ids of the run.
 *
 * With `beforeCall`, `toolError` and `runEnded` among its options it is also asked before every
 * model call and about tools that failed, and told when a run has ended, where its entry in mulligan.yaml names these occasions.
 *
 * The process ends with its host: when asked to, when its standard input closes, and
 * when its parent is gone.
 *
 * @module
 */
import "./output.js";

export { fail, forbid, retry, switchTo } from "./decision.js";
export type { Action, Adjust, Button, Contract, Decision, FailOptions, Restrict, Restriction, RetryOptions, SwitchOptions } from "./decision.js";
export type { Alternative, Failure, FailureEvent, Kind, Origin, Phase, Price, RecentCall, ReplaySafety, Timer, Tried } from "./event.js";
export { log } from "./log.js";
export type { Fields, Log } from "./log.js";
export type { ModelCall, RunEnded } from "./occasions.js";
export { serve } from "./serve.js";
export type { Advice, Advise, AdviseTool, BeforeCall, Call, Hear, Options } from "./serve.js";
export { stateDir } from "./state.js";
export { ask, runAgain, tell } from "./tool.js";
export type { ToolAdvice, ToolError, ToolSafety } from "./tool.js";
export type { Image, Message, Part, Thinking, ToolCall, ToolResult } from "./transcript.js";
export { values, ValuesError } from "./values.js";
export type { ValuesProblem } from "./values.js";
export { allow, hold, refuse, route } from "./verdict.js";
export type { Verdict, VerdictOptions } from "./verdict.js";
