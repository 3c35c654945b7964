// The conformance plugin of the TypeScript SDK: it obeys the commands of
// sdk/conformance/README.md.
import { type Call, type Decision, type FailureEvent, type Restriction, serve } from "@mulligan-run/plugin";

import { Commander, type Config } from "./commander.js";
import { hear, judge, mend } from "./occasions.js";

const configSchema = {
  type: "object",
  properties: { greeting: { type: "string" }, refuse: { type: "string" } },
  additionalProperties: false,
};

const commander = new Commander();

function configure(config: Config | undefined): void {
  commander.config = config ?? {};
  if (config?.refuse) {
    throw new Error(config.refuse);
  }
}

/** Does what the first line of the failure's detail says. */
async function obey(event: FailureEvent, call: Call): Promise<Decision | Restriction | undefined> {
  const [line] = cut(event.failure.detail, "\n");
  const [command, reason] = cut(line, " because ");
  const [verb, rest] = cut(command, " ");
  const decision = await commander.obey(event, call, verb, rest);
  return decision && reason ? { ...decision, reason } : decision;
}

function cut(text: string, at: string): [string, string] {
  const index = text.indexOf(at);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index + at.length)];
}

serve(obey, { name: "conformance", version: "1.2.3", configSchema, configure, beforeCall: judge, toolError: mend, runEnded: hear });
