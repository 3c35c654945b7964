import { inspect } from "node:util";

import { calls } from "./calls.js";

const maxBytes = 2 << 10;

/** Gives the text of what was thrown, as a host may be told it: UTF-8 of at most 2 KiB. */
export function message(thrown: unknown): string {
  if (typeof thrown === "string") {
    return clip(thrown);
  }
  return clip(thrown instanceof Error ? String(thrown.message || thrown.name) : inspect(thrown));
}

function clip(text: string): string {
  const bytes = Buffer.from(text); // a lone surrogate becomes U+FFFD
  if (bytes.length <= maxBytes) {
    return bytes.toString();
  }
  let cut = maxBytes - Buffer.byteLength("…");
  while ((bytes[cut]! & 0xc0) === 0x80) { // inside a character
    cut--;
  }
  return bytes.toString("utf8", 0, cut) + "…";
}

/** Writes what was thrown to standard error, with the stack if it has one. */
export function report(thrown: unknown): void {
  process.stderr.write(inspect(thrown) + "\n");
}

/**
 * Keeps the process alive whatever the author's code throws where nobody catches it. If
 * that belongs to a call, the call ends with it; all else is only reported.
 */
export function surviveErrors(): void {
  const survive = (thrown: unknown) => (calls.getStore()?.fail ?? report)(thrown);
  process.on("uncaughtException", survive);
  process.on("unhandledRejection", survive);
}
