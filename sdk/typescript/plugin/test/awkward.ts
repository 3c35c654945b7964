// A plugin that does what the conformance plugin does not: what is thrown where nobody
// catches it, what is printed before serve, and a configuration that takes its time.
import { setTimeout as sleep } from "node:timers/promises";

import { type FailureEvent, fail, log, serve } from "@mulligan-run/plugin";

console.log("a banner");
process.stdout.write("and another\n");

const acts: Record<string, (event: FailureEvent, signal: AbortSignal) => unknown> = {
  "throw in a timer": () => new Promise(() => setTimeout(() => { throw new Error("from a timer"); }, 1)),
  "reject unawaited": () => new Promise(() => void sleep(1).then(() => { throw new Error("from a promise"); })),
  "throw when it is over": () => void setTimeout(() => { throw new Error("too late to tell"); }, 1),
  "throw nothing": () => { throw undefined; },
  "wait for the signal": async (_event, signal) => {
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw new Error("aborted, and then failed");
  },
  "log later": async (event) => {
    await sleep(Math.random() * 20);
    await fetch(`data:,${event.run}`);
    log.info("later", { of: event.run });
  },
  "serve again": () => serve(() => undefined),
};

serve((event, { signal }) => {
  const act = acts[event.failure.detail];
  return act ? (act(event, signal) as undefined) : fail({ reason: "alive" });
}, {
  configure: async (config: { refuse?: string } | undefined) => {
    await sleep(1);
    if (config?.refuse) {
      throw new Error(config.refuse);
    }
  },
});

setTimeout(() => { throw new Error("of no call"); }, 1);
