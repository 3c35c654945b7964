import { Problem } from './problem.js';

/** How long a gateway that is busy is asked again. */
const PATIENCE_MS = 30_000;

/** A request that was refused before anything of it was done. */
export const isBusy = (problem: Problem): boolean => problem.status === 429;

/** A request that may have been done, and may be made twice all the same. */
export const isBusyOrDown = (problem: Problem): boolean => isBusy(problem) || problem.status === 503;

/**
 * Makes a request again while it is refused in a way that passes. It gives up after 30 s, and
 * where the gateway says that it takes longer, with the last refusal.
 */
export async function patiently<T>(passes: (problem: Problem) => boolean, request: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof Problem) || !passes(error)) {
        throw error;
      }
      const wait = (error.retryAfter ?? 1000) * (1 + Math.random() / 4); // not all who were refused at once come back at once
      if (Date.now() + wait > deadline) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  }
}

/** Waits about so long, in milliseconds, or until the signal. */
export function pauseFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const jittered = ms * (0.75 + Math.random() / 2);
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, jittered);
    signal?.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
