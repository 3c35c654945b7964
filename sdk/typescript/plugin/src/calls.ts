import { AsyncLocalStorage } from "node:async_hooks";

/** A call of the author's function that is under way. */
export interface OpenCall {
  readonly run: string;
  readonly session: string;
  /** Ends the call with an error that nobody awaits; undefined once the call is over. */
  fail: ((error: unknown) => void) | undefined;
}

/** Finds the call that the running code belongs to. */
export const calls = new AsyncLocalStorage<OpenCall>();
