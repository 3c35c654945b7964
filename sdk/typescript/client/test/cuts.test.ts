import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';

import { Client, Fold, type RunEvent } from '../src/index.js';

const CUTS = 100;

/** Dice that fall the same way for the same seed (mulberry32). */
function diceOf(seed: number): (sides: number) => number {
  let state = seed >>> 0;
  return (sides) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) % sides;
  };
}

const withdrawn = Array.from({ length: 120 }, (_, i) => `né-${i} `);
const kept = Array.from({ length: 120 }, (_, i) => `yes-${i} `);

/** A run whose first attempt fails after text, which is withdrawn. */
function story(): RunEvent[] {
  const events: RunEvent[] = [];
  const add = (type: string, data: unknown) =>
    events.push({ v: 1, run: 'r1', seq: events.length + 1, time: '2026-03-01T09:00:00Z', type, data } as RunEvent);
  const speak = (attempt: number, words: string[]) => words.forEach(() => add('noted', { topic: 'text', attempt }));
  add('started', { model: 'a/one', input: [{ role: 'user', parts: [{ text: 'hi' }] }], policy: { autoRecover: true, maxRetries: 3, timeouts: {} } });
  add('began', { attempt: 1, round: 1, try: 0, model: 'a/one' });
  speak(1, withdrawn);
  add('failed', { attempt: 1, text: withdrawn.join(''), failure: { kind: 'overloaded', code: 'MODEL_PROVIDER_UNAVAILABLE', origin: 'model', phase: 'mid_stream', retryable: true }, usage: {} });
  add('decided', { occasion: `run_error/${events.length}`, decision: { action: 'retry', delayMs: 0 } });
  add('began', { attempt: 2, round: 1, try: 1, model: 'a/one', withdraws: 1, retry: true });
  speak(2, kept);
  add('answered', { attempt: 2, message: { role: 'assistant', parts: [{ text: kept.join('') }] }, usage: {}, stop: 'end' });
  add('ended', { status: 'completed', stopReason: 'completed' });
  return events;
}

/** A live piece of an attempt's text: it may come late, or before what it follows. */
function piece(attempt: number, i: number): unknown {
  const words = attempt === 1 ? withdrawn : kept;
  const from = i % 10 === 0 ? 0 : i; // or all that was said until then
  return { run: 'r1', attempt, offset: Buffer.byteLength(words.slice(0, from).join('')), text: words.slice(from, i + 1).join('') };
}

test('I29, I09: a hundred connections break at bytes that the dice say, and nothing is lost, repeated or shown twice', async () => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32));
  const roll = diceOf(seed);
  const events = story();
  const begun = events.findLast((e) => e.type === 'began')?.seq ?? 0; // from here on, what was shown before is withdrawn
  let cuts = 0;
  const server = createServer((request, response) => {
    const last = Number(request.headers['last-event-id'] ?? 0);
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    // One that is known comes again, which must not count.
    const text = events.slice(Math.max(0, last - 1)).map((e) => {
      const live = roll(3) === 0 ? `event: delta\ndata: ${JSON.stringify(piece(1 + roll(2), roll(120)))}\n\n` : '';
      return `${live}id: ${e.seq}\nevent: event\ndata: ${JSON.stringify(e)}\n\n`;
    }).join('') + 'event: end\ndata: {}\n\n';
    if (cuts >= CUTS) {
      response.end(text);
      return;
    }
    cuts++;
    const bytes = Buffer.from(text);
    // Most of the time something comes through: who gets nothing waits before asking again.
    response.write(bytes.subarray(0, roll(20) === 0 ? roll(100) : 200 + roll(1500)), () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  let seen = 0;
  const client = new Client({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  while (cuts < CUTS) { // like somebody who loads the page anew
    const fold = new Fold();
    seen = 0;
    for await (const item of client.follow('r1')) {
      fold.apply(item);
      if ('event' in item) {
        assert.equal(item.event.seq, ++seen, `seed ${seed}`);
      }
      const shown = fold.view.answer.text;
      assert.ok((seen < begun ? withdrawn : kept).join('').startsWith(shown), `seed ${seed}: event ${seen}: ${shown}`);
    }
    assert.equal(seen, events.length, `seed ${seed}`);
    assert.equal(fold.view.answer.text, kept.join(''), `seed ${seed}`);
  }
  server.close();
});
