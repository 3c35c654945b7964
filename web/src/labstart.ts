import type { Lab, Start } from '@mulligan-run/client';

/** How a message to the fault lab begins: with only its models, and timers short enough to watch. */
export function ofTheLab(lab?: Lab): Partial<Start> {
  const { model, fallback, timeouts } = lab ?? {};
  return { ...(model && { model }), ...(fallback && { fallbacks: [fallback] }), ...(timeouts && { timeouts }) };
}
