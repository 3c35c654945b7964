import type { Alternative, FailureEvent, ModelCall, RecentCall, RunEnded, ToolError, Tried } from "@mulligan-run/plugin";

/** Whatever the plugin is told. */
type Told = FailureEvent | ModelCall | ToolError | RunEnded;

type Value = string | number | boolean | Date | undefined | readonly string[];

/** Durations that are undefined where they are not set, and 0 when they are rendered. */
const durations = new Set(["retry_after", "failure.retry_after", "failure.limit"]);

/** Renders the field of what the plugin is told. */
export function say(event: Told, name: string): string {
  return render(name, field(event, name));
}

/** Counts the elements of a list. */
export function count(event: Told, name: string): number {
  const value = field(event, name);
  if (!Array.isArray(value)) {
    throw new Error(`${name} is no list`);
  }
  return value.length;
}

function field(event: Told, name: string): Value {
  if (name === "tried" && "tried" in event) {
    return event.tried.map(tried);
  }
  if (name === "models" && "models" in event) {
    return event.models.map(model);
  }
  if (name === "cooling" && "cooling" in event) {
    return event.cooling.map(model);
  }
  if (name === "about" && "about" in event) {
    return model(event.about);
  }
  if (name === "recent_calls" && "recentCalls" in event) {
    return event.recentCalls.map(recentCall);
  }
  if (name === "labels" && "labels" in event) {
    return Object.entries(event.labels).map(([key, value]) => `${key}=${value}`).sort();
  }
  if (name === "transcript" && "models" in event) {
    return (event.transcript ?? []).map((m) => m.role);
  }
  const [owner, key] = name.startsWith("failure.") && "failure" in event && event.failure ? [event.failure, name.slice("failure.".length)] : [event, name];
  const camel = key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  if (!Object.hasOwn(owner, camel)) {
    throw new Error(`no field ${JSON.stringify(name)}`);
  }
  return (owner as unknown as Record<string, Value>)[camel];
}

function tried(t: Tried): string {
  return [t.attempt, t.model, t.code, render("at", t.at), render("duration", t.duration)].join(" ");
}

function model(a: Alternative): string {
  if (a.model === "") {
    return "";
  }
  const facts = { lacks: (a.lacks ?? []).join("+"), cools_until: render("at", a.coolsUntil), cooling_kind: a.coolingKind, health: a.health };
  const known = Object.entries(facts).flatMap(([name, fact]) => (fact ? [`${name}=${fact}`] : []));
  return [a.model, a.contextTokens, ...(a.price ? [`${a.price.input}/${a.price.output}`] : []), ...(a.local ? ["local"] : []), ...known].join(" ");
}

function recentCall(c: RecentCall): string {
  return [c.model, c.kind, render("at", c.at)].join(" ");
}

function render(name: string, value: Value): string {
  if (Array.isArray(value)) {
    return value.join(",");
  }
  if (value instanceof Date) {
    return value.toISOString().replace(/\.?0*Z$/, "Z");
  }
  if (value === undefined) {
    return durations.has(name) ? "0" : "";
  }
  return String(value);
}
