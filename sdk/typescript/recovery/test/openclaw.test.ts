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
    await hook('agent_end', { success: true, messages: [] }, { ...context, modelProviderId: 'openai', modelId: 'gpt-5.2', runId });
  }
  assert.deepEqual(asked.map(([path, body]) => [path, body['call'], body['model']]), [['/v1/decide', 'openclaw/r1', 'anthropic/claude'], ['/v1/outcome', 'openclaw/r1', 'openai/gpt-5.2']]);
});

const broken = { success: true, messages: [{ role: 'assistant', stopReason: 'error', errorMessage: '529 Overloaded' }] };
const turn = { runId: 'r1', sessionKey: 'sk', modelProviderId: 'anthropic', modelId: 'claude' };

test('a host without run_error: within a turn, attempts are counted and held back, and an answer is told', async () => {
  const { advisor, asked } = scripted([{ decision: { action: 'retry', delayMs: 200 } }, retry]);
  const { api, hook } = host();
  register(api, advisor);
  assert.equal(await hook('before_agent_run', {}, turn), undefined);
  const began = Date.now();
  void hook('agent_end', broken, turn); // the host does not wait for it
  assert.equal(await hook('before_agent_run', {}, turn), undefined);
  assert.ok(Date.now() - began >= 199, `${Date.now() - began}`);
  await hook('agent_end', broken, turn);
  await hook('agent_end', { success: true, messages: [] }, turn);
  assert.deepEqual(asked.map(([path, body]) => [path, body['call'], body['attempt']]), [['/v1/decide', 'openclaw/r1', 0], ['/v1/decide', 'openclaw/r1', 1], ['/v1/outcome', 'openclaw/r1', undefined]]);
});

test('a host without run_error: where it chooses a model within the turn, it is the one that is switched to', async () => {
  const { advisor } = scripted([switchTo('openai/gpt-5.2')]);
  const { api, hook } = host();
  register(api, advisor, ['openai/gpt-5.2']);
  void hook('agent_end', broken, turn);
  assert.deepEqual(await hook('before_model_resolve', {}, turn), { providerOverride: 'openai', modelOverride: 'gpt-5.2' });
});

test('a host without run_error: what is given up is not tried again, and that is no failure of its own', async () => {
  const { advisor, asked } = scripted([{ ...fail, failure: { title: 'Anthropic is overloaded' } }]);
  const { api, hook } = host();
  register(api, advisor);
  void hook('agent_end', broken, turn);
  assert.deepEqual(await hook('before_agent_run', {}, turn), { outcome: 'block', reason: 'Mulligan gives it up', message: 'Anthropic is overloaded: nothing helps' });
  await hook('agent_end', { success: false, error: 'Your message could not be sent', messages: [] }, turn);
  assert.equal(asked.length, 1);
});

test('a host without run_error goes on as without Mulligan where there is no advice, or a person is to be asked', async () => {
  const { advisor } = scripted(['<html>', { decision: { action: 'retry', blockedBy: 'max_retries', delayMs: 60_000 } }, { decision: { action: 'retry', delayMs: 60_000 }, recoverySuggestion: {} }]);
  const { api, hook } = host();
  register(api, advisor);
  for (let n = 0; n < 3; n++) {
    void hook('agent_end', broken, turn);
    assert.equal(await hook('before_agent_run', {}, turn), undefined);
  }
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
  for (const config of [undefined, null, 7, {}, { url: 7, timeout: 'x', alternatives: 'x' }, { url: 'http://127.0.0.1:1', timeout: 1000, alternatives: ['a/b', 7] }]) {
    plugin.register(host(config).api);
  }
});
