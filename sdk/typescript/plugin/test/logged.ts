import assert from "node:assert/strict";
import { mock } from "node:test";

/** Gives the lines that are logged meanwhile. */
export function logged(during: () => void): Record<string, unknown>[] {
  const write = mock.method(process.stderr, "write", () => true);
  try {
    during();
    return write.mock.calls.map(({ arguments: [line] }) => {
      assert.match(String(line), /^[^\n]*\n$/);
      return JSON.parse(String(line)) as Record<string, unknown>;
    });
  } finally {
    write.mock.restore();
  }
}
