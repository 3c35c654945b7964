import { inspect } from "node:util";

import { calls } from "./calls.js";

/** What a line of the log says beside its message: any names with values that JSON can hold. */
export type Fields = Readonly<Record<string, unknown>>;

/** Writes one line, with further keys if they are given. */
type Write = (message: string, fields?: Fields) => void;

/** A log for people who run plugins. */
export interface Log {
  readonly trace: Write;
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

/**
 * The log: one JSON object a line on standard error, from where it reaches the host's
 * log. Inside a call it names the call's run and session.
 */
export const log: Log = {
  trace: writer("trace"), debug: writer("debug"), info: writer("info"), warn: writer("warn"), error: writer("error"),
};

function writer(level: string): Write {
  return (message, fields = {}) => void process.stderr.write(line(level, message, fields) + "\n");
}

function line(level: string, message: string, fields: Fields): string {
  const own = { "@level": level, "@message": String(message), "@timestamp": new Date().toISOString(), ...ids() };
  try {
    return JSON.stringify({ ...own, ...fields, ...own }, plain); // own keys first, and never another's
  } catch (error) { // a circle, or what throws when it is looked at
    return JSON.stringify({ ...own, unreadable: inspect(error) });
  }
}

function ids(): Fields {
  const call = calls.getStore();
  if (!call) {
    return {};
  }
  return call.session === "" ? { run: call.run } : { run: call.run, session: call.session };
}

/** Makes text of what JSON cannot hold, or would show as nothing. */
function plain(_key: string, value: unknown): unknown {
  return typeof value === "bigint" || value instanceof Error ? inspect(value) : value;
}
