import type { AwaitedCall } from './situation.js';

/**
 * A function of this program that a run's model may call: declare it by `start({ tools: [tool] })`, and follow the run by
 * `followWithTools`.
 */
export interface Tool {
  /** Of letters, digits, _ and -; none that the gateway has itself. */
  name: string;
  description?: string;
  /** JSON Schema of the arguments; left out, an object with anything in it. */
  schema?: Record<string, unknown>;
  /** Left out, a call whose outcome nobody knows is never repeated by itself. */
  safety?: 'read_only' | 'idempotent';
  /** How long a call may take; left out, the gateway's usual time for a tool. */
  timeoutMs?: number;
  /**
   * Does the work. What it throws is the call's result: the model is told. The same call may come again, under the same key,
   * where this program stopped before it gave the result.
   */
  run?: (args: Record<string, unknown>, call: AwaitedCall) => string | Promise<string>;
}

/** What came of a call that a run awaits. */
export interface CallResult {
  callId: string;
  /** At most 256 KiB. */
  text: string;
  /** The tool failed, and text says why. */
  isError?: boolean;
}
