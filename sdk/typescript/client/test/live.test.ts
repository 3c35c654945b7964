import assert from 'node:assert/strict';
import test from 'node:test';

import { Fold, type RunEvent } from '../src/index.js';
import { StreamedText } from '../src/text.js';

test('live text that comes twice, late or with a gap is shown once; the end has it all', () => {
  const text = new StreamedText();
  text.delta(0, 'né');
  text.delta(0, 'né');
  text.delta(1, 'é a');
  assert.equal(text.text, 'né a');
  text.delta(10, 'lost');
  assert.equal(text.text, 'né a');
  text.delta(0, 'né and more');
  assert.equal(text.text, 'né and more', 'who comes late gets all of it at once');
  text.delta(5, 'nd more.');
  assert.equal(text.text, 'né and more.');
  text.end('né or');
  assert.equal(text.text, 'né or', 'what is kept wins');
});

test('who comes in the middle of an attempt sees all that it has said, and of a crash what is kept', () => {
  const fold = new Fold();
  let seq = 0;
  const happen = (type: string, data: unknown): void =>
    fold.apply({ event: { v: 1, run: 'r', seq: ++seq, time: '2026-03-01T09:00:00Z', type, data } as RunEvent });
  happen('started', { model: 'a/one', input: [{ role: 'user', parts: [{ text: 'hi' }] }], policy: { autoRecover: true, maxRetries: 3, timeouts: {} } });
  happen('claimed', { owner: 'o', epoch: 1 });
  happen('began', { attempt: 1, round: 1, try: 0, model: 'a/one' });
  fold.apply({ delta: { run: 'r', attempt: 1, offset: 7, text: ' it' } });
  assert.equal(fold.view.answer.text, '');
  fold.apply({ delta: { run: 'r', attempt: 1, offset: 0, text: 'half of it' } });
  fold.apply({ delta: { run: 'r', attempt: 1, offset: 7, text: ' it' } });
  assert.equal(fold.view.answer.text, 'half of it');
  happen('claimed', { owner: 'p', epoch: 2 });
  happen('failed', { attempt: 1, text: 'half of', failure: { kind: 'interrupted', code: 'C', title: 'Interrupted', message: 'm' } });
  assert.equal(fold.view.answer.text, 'half of');
});

test('what a person stopped is kept', () => {
  const fold = new Fold();
  let seq = 0;
  const happen = (type: string, data: unknown): void =>
    fold.apply({ event: { v: 1, run: 'r', seq: ++seq, time: '2026-03-01T09:00:00Z', type, data } as RunEvent });
  happen('started', { model: 'a/one', input: [{ role: 'user', parts: [{ text: 'hi' }] }], policy: { autoRecover: true, maxRetries: 3, timeouts: {} } });
  happen('began', { attempt: 1, round: 1, try: 0, model: 'a/one' });
  happen('cancel_requested', { attempt: 1, text: 'half of' });
  happen('ended', { status: 'cancelled', stopReason: 'cancelled' });
  assert.deepEqual([fold.view.answer.text, fold.view.answer.partial], ['half of', true]);
});

test('text of a failed attempt is kept until another begins, and live text of it is void then', () => {
  const fold = new Fold();
  let seq = 0;
  const happen = (type: string, data: unknown): void =>
    fold.apply({ event: { v: 1, run: 'r', seq: ++seq, time: '2026-03-01T09:00:00Z', type, data } as RunEvent });
  happen('started', { model: 'a/one', input: [{ role: 'user', parts: [{ text: 'hi' }] }], policy: { autoRecover: true } });
  happen('began', { attempt: 1, round: 1, try: 0, model: 'a/one' });
  fold.apply({ delta: { run: 'r', attempt: 1, offset: 0, text: 'half of' } });
  assert.equal(fold.view.answer.text, 'half of');
  happen('failed', { attempt: 1, text: 'half of', failure: { kind: 'stream_interrupted', code: 'C', title: 'The answer was cut off', message: 'm' } });
  assert.equal(fold.view.answer.text, 'half of');
  happen('decided', { occasion: `run_error/${seq}`, decision: { action: 'retry' } });
  happen('began', { attempt: 2, round: 1, try: 1, model: 'a/one', withdraws: 1, retry: true });
  fold.apply({ delta: { run: 'r', attempt: 1, offset: 7, text: ' late' } });
  assert.equal(fold.view.answer.text, '');
  fold.apply({ delta: { run: 'r', attempt: 2, offset: 0, text: 'all' } });
  assert.deepEqual(fold.view.entries.map((e) => e.type), ['user', 'text']);
  happen('answered', { attempt: 2, message: { role: 'assistant', model: 'a/one', parts: [{ text: 'all of it' }] }, usage: {}, stop: 'end' });
  assert.equal(fold.view.answer.text, 'all of it');
  assert.deepEqual(fold.view.entries.map((e) => e.type), ['user', 'text']);
});

test('an event that does not follow is refused, one that is known changes nothing', () => {
  const fold = new Fold();
  const started = { v: 1, run: 'r', seq: 1, time: '', type: 'started', data: { model: 'm', input: [], policy: { autoRecover: false, maxRetries: 0, timeouts: {} } } } as RunEvent;
  fold.apply({ event: started });
  fold.apply({ event: started });
  assert.equal(fold.view.events.length, 1);
  assert.throws(() => fold.apply({ event: { ...started, seq: 3 } as RunEvent }), /cannot follow/);
});

test('a conversation that a run was given is shown by who said it', () => {
  const fold = new Fold();
  const input = [
    { role: 'user', parts: [{ text: 'hi' }] }, { role: 'assistant', model: 'a/one', parts: [{ text: 'Hello.' }] },
    { role: 'assistant', parts: [{ call: { id: 'c1', name: 'look', args: {} } }] }, { role: 'tool', parts: [{ result: { callId: 'c1', name: 'look', text: 'dark' } }] },
    { role: 'user', parts: [{ text: 'And now?' }] },
  ];
  const started = { v: 1, run: 'r', seq: 1, time: '', type: 'started', data: { model: 'a/one', input, policy: { autoRecover: false, maxRetries: 0, timeouts: {} } } };
  fold.apply({ event: started as RunEvent });
  assert.deepEqual(fold.view.entries.map((e) => (e.type === 'text' ? `${e.model}: ${e.text}` : e.type)), ['user', 'a/one: Hello.', 'user']);
  assert.equal(fold.view.prompt, 'And now?');
});

test('a tool call that has not returned when its run ends was stopped', () => {
  const fold = new Fold();
  let seq = 0;
  const happen = (type: string, data: unknown): void =>
    fold.apply({ event: { v: 1, run: 'r', seq: ++seq, time: '2026-03-01T09:00:00Z', type, data } as RunEvent });
  const call = (id: string): unknown => ({ call: { id, name: 'look', args: {} } });
  happen('started', { model: 'a/one', input: [{ role: 'user', parts: [{ text: 'hi' }] }], policy: { autoRecover: true } });
  happen('began', { attempt: 1, round: 1, try: 0, model: 'a/one' });
  happen('answered', { attempt: 1, message: { role: 'assistant', model: 'a/one', parts: [call('c1'), call('c2'), call('c3')] }, usage: {}, stop: 'tool_use' });
  happen('tool_began', { callId: 'c1', name: 'look', key: 'c1' });
  happen('tool_returned', { callId: 'c1', outcome: 'ok', result: { callId: 'c1', name: 'look', text: 'seen' } });
  happen('tool_began', { callId: 'c2', name: 'look', key: 'c2' });
  happen('cancel_requested', {});
  happen('ended', { status: 'cancelled', stopReason: 'cancelled' });
  assert.deepEqual(fold.view.entries.flatMap((e) => (e.type === 'tool' ? [e.call.state] : [])), ['ok', 'stopped', 'stopped']);
});
