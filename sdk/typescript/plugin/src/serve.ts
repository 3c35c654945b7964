import { basename } from "node:path";

import type { Contract, Decision, Restriction } from "./decision.js";
import { message, report, surviveErrors } from "./errors.js";
import type { FailureEvent } from "./event.js";
import { host } from "./host.js";
import { liveWithHost } from "./life.js";
import type { ModelCall, RunEnded } from "./occasions.js";
import type { ToolAdvice, ToolError } from "./tool.js";
import type { Verdict } from "./verdict.js";

/** What is known about one call. */
export interface Call {
  /** Aborted when the host no longer waits: the deadline has passed, or the run has ended. */
  readonly signal: AbortSignal;
}

/**
 * The author's function: gives advice about a failure, or nothing for no opinion, at
 * once or later. It is called again while earlier calls are still waiting.
 */
export type Advise = (
  event: FailureEvent,
  call: Call,
) => Advice | Promise<Advice>;

/** What the author's function may give. */
export type Advice = Decision | Restriction | Contract | undefined | null | void;

/**
 * Says whether a model call may begin, or nothing for no opinion. It has 500 ms, and what it
 * throws is no opinion; with `fail_closed` in the plugin's entry that is a refusal.
 */
export type BeforeCall = (modelCall: ModelCall, call: Call) => Verdict | undefined | null | void | Promise<Verdict | undefined | null | void>;

/** Says what to do about a tool that failed, or nothing for no opinion: the model is told what the tool said. */
export type AdviseTool = (error: ToolError, call: Call) => ToolAdvice | undefined | null | void | Promise<ToolAdvice | undefined | null | void>;

/** Is told that a run has ended; what it gives is nobody's business. */
export type Hear = (end: RunEnded, call: Call) => unknown;

/** What is said about a plugin beside its function. */
export interface Options {
  /** The name it calls itself, at most 100 bytes; the host's configuration names it anyway. */
  readonly name?: string | undefined;
  /** Its version, at most 100 bytes; kept with every vote. */
  readonly version?: string | undefined;
  /** The JSON Schema (2020-12) of its configuration; the host checks it before the plugin sees it. */
  readonly configSchema?: object | undefined;
  /**
   * Called once with the configuration, before any event; undefined = there is none. What
   * it throws refuses the configuration, and its message is shown to people. Declare the
   * parameter as what the schema allows.
   */
  configure?(config: unknown): void | Promise<void>;
  /** Asked before every model call, where the plugin's entry in mulligan.yaml names the occasion `before_call`. */
  readonly beforeCall?: BeforeCall | undefined;
  /** Asked about a tool that failed before the model is told, where the plugin's entry names the occasion `tool_error`. */
  readonly toolError?: AdviseTool | undefined;
  /** Told when a run has ended, where the plugin's entry names the occasion `run_ended`. */
  readonly runEnded?: Hear | undefined;
}

let serving = false;

/** The function of a plugin that has no opinion about failures. */
const noOpinion: Advise = () => undefined;

/**
 * Answers a host until it goes away. Started by hand, the process says how it is used
 * and exits with status 1; so it does, with a reason, where it cannot serve. A plugin
 * that is only asked before calls, or only told of ends, has no `advise`.
 */
export function serve(advise: Advise | undefined, options: Options = {}): void {
  if (!host.isThere) {
    process.stderr.write(explanation(process.argv[1] ?? "plugin"));
    process.exit(1);
  }
  if (serving) {
    throw new Error("serve is called a second time: a process is one plugin");
  }
  serving = true;
  surviveErrors();
  liveWithHost();
  start(advise ?? noOpinion, options).catch((error: unknown) => {
    process.stderr.write(`the plugin cannot serve: ${message(error)}\n`);
    report(error);
    process.exit(1);
  });
}

/** Loads what only a served plugin needs: a test of the author's function does not wait for it. */
async function start(advise: Advise, options: Options): Promise<void> {
  const { listen } = await import("./server.js");
  await listen(advise, options);
}

function explanation(program: string): string {
  const name = basename(program).replace(/\.[cm]?[jt]s$/, "");
  return `${basename(program)} is a Mulligan recovery plugin: it is not run by hand, a host starts it.
Name it in mulligan.yaml

    plugins:
      - name: ${name}
        command: [node, ${program}]

and see with "mulligan plugin list" whether it starts.
`;
}
