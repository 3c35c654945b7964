import { fstatSync } from "node:fs";

const parent = process.ppid;

/** Ends the process with its host, and keeps it alive until then. */
export function liveWithHost(): void {
  process.on("SIGINT", () => {}); // a terminal sends it to everybody in it
  followStdin();
  followParent();
}

/**
 * Exits when the host's end of the life line is closed. Where standard input is neither
 * a pipe nor a socket there is no life line.
 */
function followStdin(): void {
  const stdin = fstatSync(0);
  if (stdin.isFIFO() || stdin.isSocket()) {
    process.stdin.on("end", exit).on("close", exit).on("error", exit).resume();
  }
}

/** Exits when the process was left to another parent. */
function followParent(): void {
  setInterval(() => {
    if (process.ppid !== parent) {
      exit();
    }
  }, 500);
}

function exit(): void {
  process.exit(0);
}
