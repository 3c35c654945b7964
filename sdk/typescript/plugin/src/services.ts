import { type handleUnaryCall, status } from "@grpc/grpc-js";

import { calls, type OpenCall } from "./calls.js";
import { message, report } from "./errors.js";
import { newEvent } from "./event.js";
import { HealthCheckResponse_ServingStatus as ServingStatus, type HealthServer } from "./gen/grpc/health/v1/health.js";
import type { RecoveryPluginServer } from "./gen/mulligan/v1/plugin.js";
import type { GRPCControllerServer, GRPCStdioServer } from "./gen/plugin/goplugin.js";
import { newModelCall, newRunEnded } from "./occasions.js";
import { newReply } from "./reply.js";
import type { Advise, Call, Options } from "./serve.js";
import { newToolError, newToolReply } from "./tool.js";
import { newVerdict } from "./verdict.js";

/** Says that the plugin answers: whoever hears it can see that. */
export const health: HealthServer = {
  check: (call, reply) =>
    ["", "plugin"].includes(call.request.service)
      ? reply(null, { status: ServingStatus.SERVING })
      : reply({ code: status.NOT_FOUND, details: "unknown service" }),
};

/** Ends the process, whatever is running. */
export const controller: GRPCControllerServer = {
  shutdown: (_call, reply) => {
    reply(null, {});
    setImmediate(() => process.exit(0)); // the answer has been handed to the connection
  },
};

/** Holds the stream open: what is printed goes to standard error. */
export const stdio: GRPCStdioServer = { streamStdio: () => {} };

/** Puts the author's functions and options behind the service. */
export function recovery(advise: Advise, options: Options): RecoveryPluginServer {
  const configSchema = Buffer.from(options.configSchema ? JSON.stringify(options.configSchema) : "");
  const { beforeCall, toolError, runEnded } = options;
  const taken = { before_call: beforeCall, tool_error: toolError, run_ended: runEnded };
  const occasions = Object.entries(taken).filter(([, ask]) => ask).map(([occasion]) => occasion);
  const described = { name: options.name ?? "", version: options.version ?? "", configSchema, occasions };
  return {
    describe: (_call, reply) => reply(null, described),
    configure: (call, reply) => {
      configure(options, call.request.config).then(
        () => reply(null, {}),
        (error: unknown) => reply({ code: status.INVALID_ARGUMENT, details: message(error) }),
      );
    },
    runError: answer((m, call) => advise(newEvent(m), call), newReply),
    beforeCall: beforeCall ? answer((m, call) => beforeCall(newModelCall(m), call), newVerdict) : notTaken("before_call"),
    toolError: toolError ? answer((m, call) => toolError(newToolError(m), call), newToolReply) : notTaken("tool_error"),
    runEnded: runEnded ? answer((m, call) => runEnded(newRunEnded(m), call), () => ({})) : notTaken("run_ended"),
  };
}

async function configure(options: Options, config: Buffer): Promise<void> {
  await options.configure?.(config.length === 0 ? undefined : JSON.parse(config.toString()));
}

/** Says that an occasion is none of the plugin's. */
function notTaken<Q, A>(occasion: string): handleUnaryCall<Q, A> {
  return (_call, reply) => reply({ code: status.UNIMPLEMENTED, details: `the plugin does not take ${occasion}` });
}

/** A question of the host. */
interface Question {
  readonly run: string;
  readonly session: string;
}

/** Asks one of the author's functions, and answers with what write makes of what it gave. */
function answer<Q extends Question, A>(ask: (question: Q, call: Call) => unknown, write: (given: unknown) => A): handleUnaryCall<Q, A> {
  return async (call, reply) => {
    const abort = new AbortController();
    call.on("cancelled", () => abort.abort());
    try {
      reply(null, write(await during(call.request, async () => ask(call.request, { signal: abort.signal }))));
    } catch (error) {
      if (!(abort.signal.aborted && error instanceof Error && error.name === "AbortError")) {
        report(error);
      }
      reply({ code: status.UNKNOWN, details: message(error) });
    }
  };
}

/** Runs what belongs to a call. What its code throws where nobody catches it is the call's error, too. */
function during(question: Question, ask: () => Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const open: OpenCall = { run: question.run, session: question.session, fail: reject };
    const close = () => (open.fail = undefined);
    calls.run(open, ask).then(resolve, reject).finally(close);
  });
}
