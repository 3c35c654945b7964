import {
  allow, ask, hold, type ModelCall, refuse, route, runAgain, type RunEnded, tell, type ToolAdvice, type ToolError, type Verdict,
} from "@mulligan-run/plugin";

import { say } from "./say.js";

/** Says of a call what its label "do" says. */
export function judge(call: ModelCall): Verdict | undefined {
  const [verb, rest] = told(call);
  switch (verb) {
    case "":
      return undefined;
    case "allow":
      return allow();
    case "route":
      return route(rest, { reason: "told so" });
    case "hold":
      return hold(new Date(call.time!.getTime() + Number(rest) * 1000), { reason: "told so" });
    case "refuse":
      return refuse(rest);
    case "say":
      return refuse(say(call, rest));
  }
  throw new Error(rest);
}

/** Says of a tool that failed what its label "do" says. */
export function mend(error: ToolError): ToolAdvice | undefined {
  const [verb, rest] = told(error);
  switch (verb) {
    case "":
      return undefined;
    case "again":
      return runAgain({ after: Number(rest), reason: "told so" });
    case "tell":
      return tell(rest, { reason: "told so" });
    case "ask":
      return ask(rest);
    case "say":
      return ask(say(error, rest));
  }
  throw new Error(rest);
}

/** Does what the label "do" of a run says once it has ended. */
export function hear(end: RunEnded): void {
  const [verb, rest] = told(end);
  if (verb !== "") {
    throw new Error(verb === "say" ? `<${say(end, rest)}>` : rest);
  }
}

function told({ labels }: ModelCall | ToolError | RunEnded): [string, string] {
  const [verb = "", ...rest] = (labels["do"] ?? "").split(" ");
  return [verb, rest.join(" ")];
}
