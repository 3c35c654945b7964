import assert from 'node:assert/strict';
import test from 'node:test';

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from '@ai-sdk/provider';

import { mulliganRecovery } from '../src/ai-sdk.js';
import { fail, retry, scripted, switchTo } from './service.js';

type Part = Partial<LanguageModelV4StreamPart> & { type: string };

/** A model that streams what it is given, one after the other; an Error is thrown. */
function model(provider: string, modelId: string, streams: (Part[] | Error)[]): LanguageModelV4 {
  return {
    specificationVersion: 'v4', provider, modelId, supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('it only streams')),
    doStream: () => {
      const next = streams.shift() ?? [];
      return next instanceof Error ? Promise.reject(next) : Promise.resolve({ stream: streamOf(next as LanguageModelV4StreamPart[]) });
    },
  };
}

async function streamed(first: LanguageModelV4, options: Parameters<typeof mulliganRecovery>[0], params = {} as LanguageModelV4CallOptions): Promise<string[]> {
  const { wrapStream } = mulliganRecovery(options);
  const { stream } = await wrapStream!({ model: first, params, doGenerate: () => first.doGenerate(params), doStream: () => first.doStream(params) });
  const types: string[] = [];
  for await (const part of stream) {
    types.push(part.type);
  }
  return types;
}

function streamOf<T>(parts: T[]): ReadableStream<T> {
  return new ReadableStream({
    start: (controller) => {
      parts.forEach((part) => controller.enqueue(part));
      controller.close();
    },
  });
}

const answer: Part[] = [{ type: 'stream-start' }, { type: 'text-delta' }, { type: 'finish' }];

test('what fails before its content is asked for again, and nothing of it is seen', async () => {
  const { advisor, asked } = scripted([retry, retry]);
  const first = model('openai.chat', 'gpt', [new Error('refused'), [{ type: 'stream-start' }, { type: 'error', error: new Error('503') }], answer]);
  assert.deepEqual(await streamed(first, { advisor }), ['stream-start', 'text-delta', 'finish']);
  assert.deepEqual(asked.map(([path, body]) => [path, body['model']]), [['/v1/decide', 'openai/gpt'], ['/v1/decide', 'openai/gpt'], ['/v1/outcome', 'openai/gpt']]);
});

test('what fails after it goes out as it is', async () => {
  const { advisor, asked } = scripted([retry]);
  const first = model('openai', 'gpt', [[{ type: 'text-delta' }, { type: 'error', error: new Error('cut') }]]);
  assert.deepEqual(await streamed(first, { advisor }), ['text-delta', 'error']);
  assert.deepEqual(asked, []);
});

test('another model is asked where it is switched to, and the first stays known', async () => {
  const { advisor, asked } = scripted([switchTo('anthropic/claude'), switchTo('openai/gpt'), {}]);
  const first = model('openai.chat', 'gpt', [new Error('one'), answer]);
  const other = model('anthropic.messages', 'claude', [new Error('two')]);
  assert.equal((await streamed(first, { advisor, alternatives: [other] })).length, 3);
  assert.deepEqual(asked.map(([, body]) => body['model']), ['openai/gpt', 'anthropic/claude', 'openai/gpt']);
  assert.deepEqual(asked[0]![1]['alternatives'], ['openai/gpt', 'anthropic/claude']);
});

test('the end, and what its caller stopped, is the error as it was', async () => {
  const { advisor, asked } = scripted([fail]);
  await assert.rejects(streamed(model('openai', 'gpt', [new Error('as it was')]), { advisor }), { message: 'as it was' });
  assert.equal(asked.length, 1);
  await assert.rejects(streamed(model('openai', 'gpt', [new Error('stopped')]), { advisor }, { prompt: [], abortSignal: AbortSignal.abort() }), { message: 'stopped' });
  assert.equal(asked.length, 1);
});

test('an answer of nothing at all is an answer', async () => {
  const { advisor, asked } = scripted([]);
  assert.deepEqual(await streamed(model('openai', 'gpt', [[]]), { advisor }), []);
  assert.deepEqual(asked, []);
});
