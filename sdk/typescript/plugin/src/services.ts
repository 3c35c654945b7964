import { type sendUnaryData, type ServerUnaryCall, status } from "@grpc/grpc-js";

import { calls, type OpenCall } from "./calls.js";
import { message, report } from "./errors.js";
import { newEvent } from "./event.js";
import { HealthCheckResponse_ServingStatus as ServingStatus, type HealthServer } from "./gen/grpc/health/v1/health.js";
import type { RecoveryPluginServer, RunErrorRequest, RunErrorResponse } from "./gen/mulligan/v1/plugin.js";
import type { GRPCControllerServer, GRPCStdioServer } from "./gen/plugin/goplugin.js";
import { newReply } from "./reply.js";
import type { Advise, Options } from "./serve.js";

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

/** Puts the author's function and options behind the service. */
export function recovery(advise: Advise, options: Options): RecoveryPluginServer {
  const configSchema = Buffer.from(options.configSchema ? JSON.stringify(options.configSchema) : "");
  const described = { name: options.name ?? "", version: options.version ?? "", configSchema, occasions: [] };
  return {
    describe: (_call, reply) => reply(null, described),
    configure: (call, reply) => {
      configure(options, call.request.config).then(
        () => reply(null, {}),
        (error: unknown) => reply({ code: status.INVALID_ARGUMENT, details: message(error) }),
      );
    },
    runError: (call, reply) => void runError(advise, call, reply),
    beforeCall: (_call, reply) => reply({ code: status.UNIMPLEMENTED, details: "the plugin does not take before_call" }),
    runEnded: (_call, reply) => reply({ code: status.UNIMPLEMENTED, details: "the plugin does not take run_ended" }),
  };
}

async function configure(options: Options, config: Buffer): Promise<void> {
  await options.configure?.(config.length === 0 ? undefined : JSON.parse(config.toString()));
}

async function runError(
  advise: Advise,
  call: ServerUnaryCall<RunErrorRequest, RunErrorResponse>,
  reply: sendUnaryData<RunErrorResponse>,
): Promise<void> {
  const abort = new AbortController();
  call.on("cancelled", () => abort.abort());
  try {
    reply(null, newReply(await ask(advise, call.request, abort.signal)));
  } catch (error) {
    if (!(abort.signal.aborted && error instanceof Error && error.name === "AbortError")) {
      report(error);
    }
    reply({ code: status.UNKNOWN, details: message(error) });
  }
}

/** Asks the author's function. What its code throws where nobody catches it is its error, too. */
function ask(advise: Advise, request: RunErrorRequest, signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const open: OpenCall = { run: request.run, session: request.session, fail: reject };
    const close = () => (open.fail = undefined);
    const asked = calls.run(open, async () => advise(newEvent(request), { signal }));
    asked.then(resolve, reject).finally(close);
  });
}
