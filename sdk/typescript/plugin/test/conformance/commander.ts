import { basename } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { type Call, type Contract, type Decision, fail, type FailureEvent, forbid, log, type Restriction, retry, stateDir, switchTo, values, ValuesError } from "@mulligan-run/plugin";

import { Meeting } from "./meeting.js";
import { count, say } from "./say.js";

/** The plugin's configuration. */
export interface Config {
  greeting?: string;
  refuse?: string; // an error to answer with
}

/** Obeys commands. */
export class Commander {
  config: Config = {};
  private readonly meeting = new Meeting();

  /** Carries one command out; rest is what follows its first word. */
  async obey(event: FailureEvent, call: Call, verb: string, rest: string): Promise<Decision | Restriction | undefined> {
    switch (verb) {
      case "retry":
        return rest === "" ? retry() : retry({ after: Number(rest) });
      case "switch":
        return switchTo(rest);
      case "contract":
        return { action: "switch", newModel: rest } satisfies Contract as unknown as Decision;
      case "fail":
        return fail();
      case "nonsense":
        return { action: "nonsense" } as unknown as Decision;
      case "actions":
        return buttons();
      case "adjust":
        return adjust(rest);
      case "restrict":
        return restrict(rest);
      case "say":
        return fail({ reason: say(event, rest) });
      case "count":
        return fail({ reason: String(count(event, rest)) });
      case "config":
        return fail({ reason: this.config.greeting });
      case "values":
        return fail({ reason: await playValues(rest) });
      case "state":
        return fail({ reason: basename(stateDir() ?? "") });
    }
    await this.act(call, verb, rest);
    return undefined;
  }

  /** Carries out a command that has an effect and no opinion. */
  private async act(call: Call, verb: string, rest: string): Promise<void> {
    switch (verb) {
      case "":
      case "none":
        return;
      case "print":
        console.log(rest);
        return;
      case "flood":
        console.log("x".repeat(Number(rest)));
        return;
      case "log":
        log.info(rest);
        return;
      case "raise":
      case "panic":
        throw new Error(rest);
      case "sleep":
        await sleep(Number(rest.replace("s", "")) * 1000, undefined, { signal: call.signal });
        return;
      case "meet":
        await this.meeting.meet(Number(rest));
        return;
      default:
        throw new Error(`unknown command "${verb}"`);
    }
  }
}

/** Does with the host's values what the grammar says. */
async function playValues(key: string): Promise<string> {
  const first = await values.add(key, 2);
  const { value, version } = await values.getWithVersion(key);
  const done = await values.compareAndSet(key, version, Buffer.concat([value!, Buffer.from("5")]));
  const late = await values.compareAndSet(key, version, "");
  await values.set(`${key}/x`, "");
  const keys = await values.keys(key);
  const wrong = await values.add(`${key}/x`).then(() => false, (error: unknown) => error instanceof ValuesError && error.problem === "not_a_number");
  await values.delete(`${key}/x`);
  return `${first} ${done} ${late} ${keys.join(",")} ${wrong} ${await values.add(key, -1)}`;
}

function buttons(): Decision {
  return retry({
    actions: [
      { kind: "edit", label: "Edit the message", effect: "client" },
      { kind: "switch_model", label: "Use GPT", effect: "runner", model: "openai/gpt-5.2", primary: true },
      { kind: "status", label: "See the status", effect: "client", url: "https://status.example.com/?q=a&b=c#now" },
    ],
  });
}

function adjust(pairs: string): Decision {
  const given = new Map(pairs.split(" ").map((pair) => pair.split("=", 2) as [string, string]));
  const tokens = given.get("max_output_tokens");
  return retry({
    adjust: {
      compact: given.get("compact") === "true",
      continue: given.get("continue") === "true",
      maxOutputTokens: tokens === undefined ? undefined : Number(tokens),
      reasoningEffort: given.get("reasoning_effort") as "low" | "medium" | "high" | undefined,
    },
  });
}

function restrict(pairs: string): Restriction {
  const given = new Map(pairs.split(" ").map((pair) => pair.split("=", 2) as [string, string]));
  const price = given.get("max_output_price");
  return forbid({
    never: given.get("never")?.split(","),
    maxOutputPrice: price === undefined ? undefined : Number(price),
    local: given.get("local") === "true",
  });
}
