import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import test from 'node:test';

import { acts, Advisor, evidenceOf } from '../src/index.js';
import { retry, scripted, switchTo } from './service.js';

const question = { call: 'c', model: 'a/b', failure: {} };

test('a service that listens and says nothing is given up after 250 ms; it is said once', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const warned: string[] = [];
  const advisor = new Advisor({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, token: 't', warn: (text) => warned.push(text) });
  assert.equal(advisor.timeout, 250);
  assert.equal(await advisor.decide(question), undefined);
  assert.equal(await advisor.decide(question), undefined);
  silent.close();
  assert.deepEqual(warned.map((text) => text.includes('no answer within 250 ms')), [true]);
});

test('nonsense is no advice', async () => {
  const nonsense = ['[]', '<html>', '', '{}', '{"decision": [1], "x": ', '{"decision": {"delayMs": "x"}}', '{"decision": {"delayMs": -1}}', '{"decision": {"newModel": 7}}', `"${'x'.repeat(2 << 20)}"`];
  for (const reply of [new Response('{}', { status: 500 }), new Response('{}', { status: 401 }), ...nonsense]) {
    const { advisor, warned } = scripted([reply]);
    assert.equal(await advisor.decide(question), undefined, String(reply));
    assert.equal(warned.length, 1);
  }
});

test('a token that cannot be read fails open, too', async () => {
  const { advisor, warned } = scripted([], { token: undefined });
  const before = process.env['XDG_STATE_HOME'];
  process.env['XDG_STATE_HOME'] = '/nowhere';
  try {
    assert.equal(await advisor.decide(question), undefined);
  } finally {
    if (before === undefined) {
      delete process.env['XDG_STATE_HOME'];
    } else {
      process.env['XDG_STATE_HOME'] = before;
    }
  }
  assert.match(warned[0]!, /ENOENT/);
});

test('attempts are counted, a switch stays, and an answer is told', async () => {
  const { advisor, asked } = scripted([switchTo('c/d'), retry]);
  const call = advisor.call('a/b', ['c/d'], { sessionKey: 's' });
  assert.ok(await call.failed(new Error('first')));
  assert.equal(call.model, 'c/d');
  assert.ok(await call.failed(new Error('second')));
  assert.equal(call.model, 'c/d');
  await call.answered();
  const [one, two] = asked.map(([, body]) => body);
  assert.deepEqual([one!['model'], one!['attempt'], two!['model'], two!['attempt']], ['a/b', 0, 'c/d', 1]);
  assert.deepEqual([one!['call'], one!['sessionKey'], one!['autoRecover']], [two!['call'], 's', true]);
  assert.deepEqual(one!['failure'], { message: 'first', exception: 'Error' });
  assert.deepEqual(asked[2], ['/v1/outcome', { call: call.id, ok: true, model: 'c/d' }]);
});

test('a call that went well is told of to nobody', () => {
  const { advisor, asked } = scripted([]);
  assert.equal(advisor.call('a/b').answered(), undefined);
  assert.deepEqual(asked, []);
});

test('what its caller stopped is not asked about, and a wait ends with it', async () => {
  const { advisor, asked } = scripted([{ decision: { action: 'retry', delayMs: 86_400_000 } }]);
  assert.equal(await advisor.call('a/b').failed(new Error('x'), AbortSignal.abort()), false);
  assert.deepEqual(asked, []);
  const stop = new AbortController();
  const waits = advisor.call('a/b').failed(new Error('x'), stop.signal);
  setImmediate(() => stop.abort());
  assert.equal(await waits, false);
});

test('what is blocked, offered, no opinion or the end is not acted on', () => {
  assert.ok(acts(retry));
  for (const not of [{ decision: {} }, { decision: { action: 'fail' } }, { decision: { action: 'retry', blockedBy: 'max_retries' } }, { ...retry, recoverySuggestion: {} }]) {
    assert.ok(!acts(not));
  }
});

test('evidence is bounded and has no keys', () => {
  const inner = Object.assign(new Error('m'.repeat(100_000)), {
    statusCode: 429,
    responseHeaders: { 'Retry-After': '3', Authorization: 'Bearer secret', x: 'y'.repeat(5000) },
    responseBody: 'b'.repeat(100_000),
  });
  const outer = new Error('outside', { cause: inner });
  const e = evidenceOf(outer);
  assert.equal(e.status, 429);
  assert.equal(e.headers!['Retry-After'], '3');
  assert.ok(!JSON.stringify(e).includes('secret'));
  assert.equal(e.body!.length, 64 << 10);
  assert.equal(e.message, 'outside');
  Object.assign(inner, { cause: outer });
  assert.equal(evidenceOf(outer).status, 429);
});

test('evidence of what libraries throw', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
  assert.deepEqual(evidenceOf(new TypeError('fetch failed', { cause: refused })), { code: 'ECONNREFUSED', message: refused.message, exception: 'Error' });
  const api = Object.assign(new Error('529 Overloaded'), { status: 529, headers: new Headers({ 'request-id': 'r1', 'set-cookie': 'secret' }), error: { type: 'overloaded_error' } });
  assert.deepEqual(evidenceOf(api), { status: 529, headers: { 'request-id': 'r1' }, body: '{"type":"overloaded_error"}', message: '529 Overloaded', exception: 'Error' });
  const circle: Record<string, unknown> = { status: 7 };
  circle['body'] = circle;
  for (const odd of [undefined, null, 'words', 7, {}, circle]) {
    assert.equal(typeof evidenceOf(odd).message, 'string');
  }
  assert.equal(evidenceOf(new Error(`${'x'.repeat((8 << 10) - 1)}😀`)).message!.length, (8 << 10) - 1); // no half of a character
});
