import assert from 'node:assert/strict';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';

import { Client, Fold, Problem, type RunEvent } from '../src/index.js';

function event(seq: number, type: string, data: unknown): RunEvent {
  return { v: 1, run: 'r1', seq, time: '2026-03-01T09:00:00Z', type, data } as RunEvent;
}

const story: RunEvent[] = [
  event(1, 'started', { model: 'a/one', input: [{ role: 'user', parts: [{ text: 'hi' }] }], policy: { autoRecover: true, maxRetries: 3, timeouts: {} } }),
  event(2, 'began', { attempt: 1, round: 1, try: 0, model: 'a/one' }),
  ...Array.from({ length: 60 }, (_, i) => event(i + 3, 'noted', { topic: 'text', attempt: 1 })),
  event(63, 'answered', { attempt: 1, message: { role: 'assistant', parts: [{ text: 'é.'.repeat(60) }] }, usage: {}, stop: 'end' }),
  event(64, 'ended', { status: 'completed', stopReason: 'completed' }),
];

/** Serves a run's events, and plays what `wrong` says of each connection. */
async function serve(wrong: (n: number, last: number, response: ServerResponse) => boolean): Promise<{ url: string; close: () => void; lasts: number[] }> {
  const lasts: number[] = [];
  const server = createServer((request, response) => {
    const last = Number(request.headers['last-event-id'] ?? 0);
    lasts.push(last);
    if (wrong(lasts.length, last, response)) {
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    send(response, last, story.length);
    response.end('event: end\ndata: {}\n\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lasts, close: () => server.close() };
}

function send(response: ServerResponse, from: number, to: number): void {
  for (const e of story.slice(from, to)) {
    response.write(`id: ${e.seq}\nevent: event\ndata: ${JSON.stringify(e)}\n\n`);
  }
}

test('every event arrives once and in order, wherever the connection breaks', async () => {
  let cuts = 0;
  const server = await serve((_, last, response) => {
    if (last >= 60 || cuts >= 30) {
      return false;
    }
    cuts++;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    send(response, Math.max(0, last - 1), last + 2); // one of them again, which must not count
    response.write(`id: ${last + 3}\nevent: event\ndata: {"v":1,"run":"r1","se`); // cut in the middle of one
    setTimeout(() => response.destroy(), 2);
    return true;
  });
  const fold = new Fold();
  const seen: number[] = [];
  for await (const item of new Client({ url: server.url }).follow('r1')) {
    fold.apply(item);
    if ('event' in item) {
      seen.push(item.event.seq);
    }
  }
  server.close();
  assert.deepEqual(seen, story.map((e) => e.seq));
  assert.equal(fold.view.answer.text, 'é.'.repeat(60));
  assert.ok(server.lasts.length > 25, `connected ${server.lasts.length} times`);
});

test('a run that is not there is an error at once; a gateway that is busy is asked again', async () => {
  const server = await serve((n, _, response) => {
    if (n < 3) {
      response.writeHead(503, { 'Content-Type': 'application/problem+json' }).end('{"detail":"the gateway is closing"}');
      return true;
    }
    response.writeHead(404, { 'Content-Type': 'application/problem+json' }).end('{"detail":"there is no such run"}');
    return true;
  });
  await assert.rejects(async () => {
    for await (const item of new Client({ url: server.url }).follow('r1')) {
      assert.fail(`got ${JSON.stringify(item)}`);
    }
  }, (error) => error instanceof Problem && error.status === 404 && error.message === 'there is no such run');
  server.close();
  assert.equal(server.lasts.length, 3);
});

test('a follower that is stopped ends', async () => {
  const server = await serve((_, last, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    send(response, last, 5);
    return true;
  });
  const abort = new AbortController();
  let seen = 0;
  for await (const _ of new Client({ url: server.url }).follow('r1', { signal: abort.signal })) {
    if (++seen === 5) {
      abort.abort();
    }
  }
  server.close();
  assert.equal(seen, 5);
});

test('who reads too slowly is told to come back, misses no event and no text, and is not told that the connection is lost', async () => {
  const word = (n: number) => `event: delta\ndata: ${JSON.stringify({ run: 'r1', attempt: 1, offset: n * 3, text: 'é.' })}\n\n`;
  const server = await serve((n, last, response) => {
    if (n > 2) {
      return false;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    if (n === 1) {
      send(response, last, 7); // five words of text
      response.end(word(5) + word(6) + 'event: resync\ndata: {}\n\n');
    } else { // nothing durable has come: words 7 and 8 are lost
      response.end(word(9) + 'event: resync\ndata: {}\n\n');
    }
    return true;
  });
  const fold = new Fold();
  const connected: boolean[] = [];
  let seq = 0;
  for await (const item of new Client({ url: server.url }).follow('r1', { onConnection: (is) => connected.push(is) })) {
    fold.apply(item);
    if ('event' in item) {
      assert.equal(item.event.seq, ++seq);
    }
    assert.ok('é.'.repeat(60).startsWith(fold.view.answer.text), fold.view.answer.text);
  }
  server.close();
  assert.deepEqual(server.lasts, [0, 7, 7]);
  assert.equal(seq, story.length);
  assert.equal(fold.view.answer.text, 'é.'.repeat(60));
  assert.deepEqual(connected, [true, true, true]);
});
