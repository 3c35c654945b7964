import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import plugin, { type Host, register, type RunErrorResult } from '../src/openclaw.js';
import { fail, retry, scripted, switchTo } from './service.js';

/** A host that calls the hooks that were registered. */
function host(pluginConfig: unknown = undefined) {
  const hooks = new Map<string, (event: never, context: object) => unknown>();
  const api: Host = { pluginConfig, on: (hook, handler) => hooks.set(hook, handler) };
  return { api, hook: async (name: string, event: unknown, context: object = {}) => await hooks.get(name)!(event as never, context) };
}

const failed = { error: '529 {"type":"error","error":{"type":"overloaded_error"}}', runId: 'r1', sessionKey: 'sk', agentId: 'main', provider: 'anthropic', model: 'claude', attempt: 0 };

test('run_error is answered in the words of the pull request', async () => {
  const { advisor, asked } = scripted([retry, switchTo('openai/gpt'), fail, { decision: {} }, '<html>', { decision: { action: 'retry', blockedBy: 'max_retries' } }]);
  const { api, hook } = host();
  register(api, advisor, ['openai/gpt']);
  const answers: (RunErrorResult | undefined)[] = [];
  for (let attempt = 0; attempt < 6; attempt++) {
    answers.push(await hook('run_error', { ...failed, attempt }) as RunErrorResult | undefined);
  }
  assert.deepEqual(answers, [
    { action: 'retry', delayMs: 1 }, { action: 'switch', newModel: 'openai/gpt' }, { action: 'fail', reason: 'nothing helps' },
    undefined, undefined, { action: 'fail', reason: 'max_retries' },
  ]);
  assert.deepEqual(asked[0], ['/v1/decide', {
    autoRecover: true, call: 'openclaw/r1', attempt: 0, model: 'anthropic/claude', alternatives: ['openai/gpt'],
    failure: { message: failed.error, status: 529 }, sessionKey: 'sk', agentId: 'main',
  }]);
  await hook('agent_end', { runId: 'r1', success: true });
  assert.deepEqual(asked.at(-1), ['/v1/outcome', { call: 'openclaw/r1', ok: true }]);
});

test('a message of the model is told as its text, and what a person stopped is not asked about', async () => {
  const { advisor, asked } = scripted([]);
  const { api, hook } = host();
  register(api, advisor);
  await hook('run_error', { ...failed, assistant: { content: [{ text: 'Hel' }, { text: 'lo' }] }, promptError: new Error('no'), timedOut: true, aborted: true });
  assert.deepEqual([asked[0]![1]['lastAssistant'], asked[0]![1]['promptError'], asked[0]![1]['timedOut']], ['Hello', 'no', true]);
  await hook('run_error', { ...failed, aborted: true });
  await hook('run_error', { error: 'x' });
  assert.equal(asked.length, 1);
});

test('a host without run_error: the session\'s next turns are asked of the model that is switched to', async () => {
  const { advisor, asked } = scripted([switchTo('openai/gpt-5.2'), {}, retry]);
  const { api, hook } = host();
  register(api, advisor, ['openai/gpt-5.2']);
  const context = { runId: 'r1', sessionKey: 'sk', modelProviderId: 'anthropic', modelId: 'claude' };
  assert.equal(await hook('before_model_resolve', { prompt: 'hi' }, context), undefined);
  await hook('agent_end', { success: false, error: '400 Your credit balance is too low', messages: [] }, context);
  assert.deepEqual(await hook('before_model_resolve', { prompt: 'hi' }, context), { providerOverride: 'openai', modelOverride: 'gpt-5.2' });
  assert.equal(await hook('before_model_resolve', { prompt: 'hi' }, { sessionKey: 'another' }), undefined);
  for (const runId of ['r2', 'r3']) {
    await hook('agent_end', { success: true, messages: [] }, { ...context, runId });
  }
  assert.deepEqual(asked.map(([path, body]) => [path, body['call']]), [['/v1/decide', 'openclaw/r1'], ['/v1/outcome', 'openclaw/r1']]);
});

test('a turn whose last message is an error has failed, whatever agent_end says', async () => {
  const { advisor, asked } = scripted([fail]);
  const { api, hook } = host();
  register(api, advisor);
  const last = { role: 'assistant', content: [], stopReason: 'error', errorMessage: '400 You exceeded your current quota', errorCode: 'insufficient_quota', errorBody: '{}' };
  await hook('agent_end', { success: true, messages: [{ role: 'user' }, last] }, { runId: 'r1', sessionKey: 'sk', modelProviderId: 'lab', modelId: 'm' });
  assert.deepEqual(asked[0]![1]['failure'], { message: last.errorMessage, status: 400, code: 'insufficient_quota', body: '{}' });
});

test('OpenClaw finds the plugin, and its configuration is read', () => {
  const manifest = JSON.parse(readFileSync('openclaw.plugin.json', 'utf8')) as { id: string };
  assert.equal(manifest.id, plugin.id);
  for (const config of [undefined, null, 7, {}, { url: 7, alternatives: 'x' }, { url: 'http://127.0.0.1:1', alternatives: ['a/b', 7] }]) {
    plugin.register(host(config).api);
  }
});
