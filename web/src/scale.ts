import type { Span } from '@mulligan-run/client';

/** From how many milliseconds on a stretch with only waiting is drawn shorter. */
const LONG_MS = 5000;

/** The width of a shortened stretch, as a part of the time of everything else. */
const SHORTENED = 0.15;

/** When a span was over, in milliseconds after the run began; an open one reaches to the end of the drawing. */
export function over(s: Span, end: number): number {
  return s.state === 'open' ? end : s.to ?? 0; // a span without duration has no `to`
}

/** Maps times to places on the chart, from 0 to 1; long waits are drawn shorter, so that the rest can be seen. */
export class Scale {
  /** Where stretches begin: in milliseconds, and on the chart; the last is the end. */
  private readonly knots: [at: number, place: number][] = [[0, 0]];
  /** Stretches that are drawn shorter. */
  readonly shortened: [from: number, to: number][] = [];

  constructor(spans: Span[], readonly end: number) {
    const quiet = quietIn(spans, end);
    const busy = quiet.reduce((left, [from, to]) => left - (to - from), end);
    const least = Math.max(LONG_MS, busy * 0.5);
    let place = 0;
    let at = 0;
    for (const [from, to] of quiet) {
      if (to - from <= least) {
        continue;
      }
      place += from - at;
      this.knots.push([from, place]);
      place += Math.max(busy * SHORTENED, LONG_MS * SHORTENED);
      this.knots.push([to, place]);
      this.shortened.push([from, to]);
      at = to;
    }
    place += end - at;
    this.knots.push([end, place]);
    for (const knot of this.knots) {
      knot[1] /= place || 1;
    }
  }

  place(at: number): number {
    return between(this.knots, Math.min(Math.max(0, at), this.end), 0, 1);
  }

  /** The time at a place. */
  time(place: number): number {
    return between(this.knots, Math.min(Math.max(0, place), 1), 1, 0);
  }
}

/** Interpolates between the rows of a table of pairs. */
function between(table: [number, number][], value: number, key: 0 | 1, result: 0 | 1): number {
  for (let i = 1; i < table.length; i++) {
    const [before, after] = [table[i - 1]!, table[i]!];
    if (value <= after[key]) {
      const wide = after[key] - before[key];
      return wide > 0 ? before[result] + ((value - before[key]) / wide) * (after[result] - before[result]) : after[result];
    }
  }
  return table.at(-1)?.[result] ?? 0;
}

/** The stretches in which no model and no tool was working. */
function quietIn(spans: Span[], end: number): [number, number][] {
  const quiet: [number, number][] = [];
  let at = 0;
  for (const s of spans) {
    if (s.kind === 'wait' || s.kind === 'person') {
      continue;
    }
    if (s.from > at) {
      quiet.push([at, s.from]);
    }
    at = Math.max(at, over(s, end));
  }
  return at < end ? [...quiet, [at, end]] : quiet;
}

/** Round times for an axis between two times, at most this many. */
export function ticks(from: number, to: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000, 604_800_000];
  const step = steps.find((s) => (to - from) / s <= most) ?? 604_800_000;
  const list: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to && list.length < 50; at += step) {
    list.push(at);
  }
  return list;
}
