import assert from 'node:assert/strict';
import test from 'node:test';

import { Client, Problem } from '../src/index.js';

/** A gateway that refuses so many requests, and the idempotency keys of all. */
function busy(status: number, refuse: number, after: string): { client: Client; keys: (string | undefined)[] } {
  const keys: (string | undefined)[] = [];
  const client = new Client({
    url: 'http://gateway',
    fetch: async (_url, init) => {
      keys.push((init?.headers as Record<string, string>)['Idempotency-Key']);
      return keys.length <= refuse
        ? new Response(JSON.stringify({ status, detail: 'busy' }), { status, headers: { 'Retry-After': after } })
        : new Response(JSON.stringify({ id: 'r1', serverNow: new Date().toISOString() }));
    },
  });
  return { client, keys };
}

test('a run is started under one idempotency key, however often it is asked for', async () => {
  for (const status of [429, 503]) {
    const { client, keys } = busy(status, 1, '1');
    assert.equal((await client.start({ prompt: 'x' })).id, 'r1');
    assert.equal(keys.length, 2);
    assert.ok(keys[0]);
    assert.equal(keys[1], keys[0]);
  }
});

test('what takes much longer, or may have been done, is not asked again', async () => {
  const later = busy(429, 1, '60');
  await assert.rejects(later.client.start({ prompt: 'x' }), (e) => e instanceof Problem && e.retryAfter === 60_000);
  assert.equal(later.keys.length, 1);
  const done = busy(503, 1, '1');
  await assert.rejects(done.client.cancel('r1'), Problem);
  assert.equal(done.keys.length, 1);
  const refused = busy(429, 1, '1');
  await refused.client.cancel('r1');
  assert.equal(refused.keys.length, 2);
});
