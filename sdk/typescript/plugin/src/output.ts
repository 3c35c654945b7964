import { writeSync } from "node:fs";

import { host } from "./host.js";

// Standard output is the protocol's. It is taken as soon as a plugin is loaded, since a
// banner before the handshake line would keep it from starting.
if (host.isThere) {
  process.stdout.write = process.stderr.write.bind(process.stderr);
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", () => {}); // nobody reads any more: there is nobody to tell
  }
}

/** Writes the handshake line, past all that was done to process.stdout. */
export function printLine(line: string): void {
  writeSync(1, line + "\n");
}
