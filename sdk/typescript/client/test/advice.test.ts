import assert from 'node:assert/strict';
import test from 'node:test';

import { acts, type Advice, Client, Problem } from '../src/index.js';

const reply = (more: object): Advice => ({ run: 'r1', failure: { kind: 'overloaded' }, decision: { action: 'retry', delayMs: 50 }, votes: [], ...more }) as unknown as Advice;

test('a question goes out as it is, once, and so does an outcome', async () => {
  const sent: [string, unknown][] = [];
  const client = new Client({
    url: 'http://gateway',
    token: 't',
    fetch: async (url, init) => {
      assert.equal((init?.headers as Record<string, string>).Authorization, 'Bearer t');
      sent.push([String(url), JSON.parse(String(init?.body))]);
      return sent.length < 3 ? Response.json(reply({})) : Response.json({ status: 429, detail: 'busy' }, { status: 429 });
    },
  });
  const failed = { call: 'c', attempt: 1, model: 'a/one', alternatives: ['b/two'], failure: { status: 529 } };
  assert.ok(acts(await client.decide(failed)));
  await client.outcome({ call: 'c', ok: true });
  assert.deepEqual(sent, [['http://gateway/v1/decide', failed], ['http://gateway/v1/outcome', { call: 'c', ok: true }]]);
  await assert.rejects(client.decide(failed), (e) => e instanceof Problem && e.status === 429); // it is not asked again: its caller goes on
  assert.equal(sent.length, 3);
});

test('who has no answer in time goes on', async () => {
  const client = new Client({
    fetch: (_url, init) => new Promise((_, reject) => {
      const waits = setTimeout(() => reject(new Error('it waits without end')), 60_000);
      init?.signal?.addEventListener('abort', () => { clearTimeout(waits); reject(init.signal?.reason); });
    }),
  });
  await assert.rejects(client.decide({ call: 'c', model: 'a/one', failure: {} }), { name: 'TimeoutError' });
});

test('what is blocked, offered, no opinion or the end is not acted on', () => {
  assert.ok(acts(reply({ decision: { action: 'switch_model', newModel: 'b/two' } })));
  for (const not of [{ decision: {} }, { decision: { action: 'fail' } }, { decision: { action: 'retry', blockedBy: 'max_retries' } }, { recoverySuggestion: { actions: [] } }]) {
    assert.ok(!acts(reply(not)));
  }
});

test('a run is started with labels, and listed by them', async () => {
  const asked: string[] = [];
  const client = new Client({
    fetch: async (url, init) => {
      asked.push(`${url} ${init?.body ?? ''}`);
      return Response.json({ id: 'r1', runs: [] });
    },
  });
  await client.start({ prompt: 'hi', labels: { tenant: 'acme' } });
  await client.runs({ label: ['tenant=acme', 'who=me'] });
  assert.deepEqual(asked, ['/v1/runs {"prompt":"hi","labels":{"tenant":"acme"}}', '/v1/runs?label=tenant%3Dacme&label=who%3Dme ']);
});
