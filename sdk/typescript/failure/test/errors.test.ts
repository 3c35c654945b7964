import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'node:test';

import { classify, classifyError, evidenceOf, KINDS, type Failure } from '../src/index.js';

/** An error as the clients of openai and anthropic throw it. */
class RateLimitError extends Error {
  readonly status = 429;
  readonly headers = new Headers({ 'Retry-After': '7', 'x-request-id': 'req_1' });

  constructor(
    message: string,
    readonly error: unknown,
  ) {
    super(message);
  }
}

test('an error of a client has the answer', () => {
  const f = classifyError(new RateLimitError('429', { code: 'insufficient_quota', message: 'You exceeded your current quota' }), {
    provider: 'openai',
    model: 'openai/gpt-5',
  });
  assert.deepEqual([f.kind, f.retryable, f.providerCode, f.requestId, f.httpStatus], ['billing', false, 'insufficient_quota', 'req_1', 429]);
  assert.equal(`${f.title}. ${f.message}`, 'Your OpenAI account has no credit left. Add credit, or use another provider.');
});

test('an error of the AI SDK has the body and headers', () => {
  const error = Object.assign(new Error('Overloaded'), {
    name: 'AI_APICallError',
    statusCode: 529,
    responseHeaders: { 'request-id': 'req_2', 'retry-after': '3' },
    responseBody: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  });
  const f = classifyError(error, { provider: 'anthropic' });
  assert.deepEqual([f.kind, f.requestId, f.retryAfterMs, f.title], ['overloaded', 'req_2', 3000, 'Anthropic is overloaded']);
});

test('an error of axios and one of the AWS SDK', () => {
  const axios = Object.assign(new Error('Request failed with status code 402'), { response: { status: 402, headers: {}, data: { error: 'no funds' } } });
  assert.equal(classifyError(axios).kind, 'billing');
  const aws = Object.assign(new Error('Too many requests'), { name: 'ThrottlingException', $metadata: { httpStatusCode: 429 } });
  assert.equal(classifyError(aws).kind, 'rate_limit');
});

async function failureOf(answer: RequestListener, ask: (url: string) => Promise<unknown>): Promise<Failure> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  try {
    await ask(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  } catch (error) {
    return classifyError(error);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
  return assert.fail('nothing was thrown');
}

test('fetch: a connection that is refused, and one that is cut', async () => {
  let url = '';
  await failureOf(() => undefined, async (at) => {
    url = at;
    throw new Error('the port is free from now on');
  });
  const refused = await fetch(url).then(() => assert.fail(), (error: unknown) => classifyError(error));
  assert.deepEqual([refused.kind, refused.retryable, refused.phase], ['unreachable', true, 'before_connect']);

  const cut = await failureOf((request) => request.socket.destroy(), (at) => fetch(at));
  assert.deepEqual([cut.kind, cut.retryable], ['stream_interrupted', true]);
});

test('fetch: an answer that ends in the middle', async () => {
  const f = await failureOf(
    (_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('half');
      setImmediate(() => response.destroy());
    },
    async (url) => (await fetch(url)).text(),
  );
  assert.deepEqual([f.kind, f.retryable], ['stream_interrupted', true]);
});

test('fetch: a timer, and an abort', async () => {
  const silent = await failureOf(() => undefined, (url) => fetch(url, { signal: AbortSignal.timeout(50) }));
  assert.equal(silent.kind, 'timeout');
  const aborted = await failureOf(() => undefined, (url) => fetch(url, { signal: AbortSignal.abort() }));
  assert.equal(aborted.kind, 'timeout');
});

test('whatever is thrown gets a kind', () => {
  const loop = new Error('a', { cause: new Error('b') });
  (loop.cause as Error).cause = loop;
  const hostile = {
    get message(): string {
      throw new Error('no words');
    },
    get response(): unknown {
      throw new Error('no answer');
    },
    body: { toJSON: () => assert.fail() },
  };
  for (const error of [undefined, null, 0, '', 'overloaded', Symbol('x'), () => 1, loop, hostile, new AggregateError([new Error('quota exceeded')]), new Error('\ud800'), new Error('x'.repeat(1_000_000))]) {
    assert.ok(KINDS.includes(classifyError(error).kind));
  }
  assert.equal(evidenceOf(loop).error, 'Error: a: Error: b');
  assert.equal(classifyError(new AggregateError([new Error('quota exceeded')])).kind, 'quota');
});

test('headers in any form', () => {
  for (const headers of [new Headers({ 'retry-after': '7' }), { 'Retry-After': '7' }, { 'retry-after': ['7', '9'] }, { constructor: '1', 'RETRY-AFTER': '7' }]) {
    assert.equal(classify({ status: 429, headers }).retryAfterMs, 7000);
  }
});

test('names that every object of JavaScript has are no names of ours', () => {
  for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    const f = classify({ status: 400, provider: name, model: `${name}/${name}`, body: `{"${name}":"x","code":"${name}","message":"&${name}; ${name}"}` });
    assert.equal(f.kind, 'invalid_request');
    assert.ok(f.title.startsWith(name), f.title);
  }
});
