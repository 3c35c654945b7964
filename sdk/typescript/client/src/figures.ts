/** What a run took, in tokens, money and time. */

import type { Bodies, Usage } from './event.js';

/** How many tokens that is. */
export function total(u: Usage | undefined): number {
  return (u?.inputTokens ?? 0) + (u?.outputTokens ?? 0) + (u?.cacheReadTokens ?? 0) + (u?.cacheWriteTokens ?? 0);
}

/** What it costs, in microdollars: prices are of a million tokens, and what is not priced of the cache is input. */
export function cost(used: Usage, price: NonNullable<Bodies['started']['policy']['prices']>[string]): number {
  return Math.round(
    ((used.inputTokens ?? 0) * price.input + (used.outputTokens ?? 0) * price.output +
      (used.cacheReadTokens ?? 0) * (price.cacheRead || price.input) +
      (used.cacheWriteTokens ?? 0) * (price.cacheWrite || price.input)) / 1e6,
  );
}

/** The milliseconds from one time to another. */
export function since(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}
