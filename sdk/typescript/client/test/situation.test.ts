import assert from 'node:assert/strict';
import test from 'node:test';

import { clock, Fold, limitInWords, localize, recovered, situation, spell, spoken, type Kind, type RunEvent, type Situation, type TriedFailure } from '../src/index.js';

const began = Date.parse('2026-03-01T09:00:00Z');

/** A run to which things happen at seconds of its life. */
function run(policy: Record<string, unknown> = {}): { at: (s: number, type: string, data: unknown) => void; line: (s: number) => string; fold: Fold } {
  const fold = new Fold();
  let seq = 0;
  const at = (s: number, type: string, data: unknown): void =>
    fold.apply({ event: { v: 1, run: 'r', seq: ++seq, time: new Date(began + s * 1000).toISOString(), type, data } as RunEvent });
  at(0, 'started', {
    model: 'anthropic/opus', input: [{ role: 'user', parts: [{ text: 'hi' }] }],
    policy: { autoRecover: true, maxRetries: 3, timeouts: { firstEventMs: 30_000 }, ...policy },
  });
  at(0, 'began', { attempt: 1, round: 1, try: 0, model: 'anthropic/opus' });
  return { fold, at, line: (s) => situation(fold.view, began + s * 1000).line.map((p) => p.text).join('') };
}

const overloaded = { kind: 'overloaded', code: 'MODEL_PROVIDER_UNAVAILABLE', provider: 'anthropic', title: 'Anthropic is overloaded', message: 'm' };

test('a model that is silent: thinking, slow, and when it is tried again', () => {
  const r = run();
  assert.equal(r.line(1), 'Thinking…');
  assert.equal(r.line(5), 'Thinking… 5 s');
  assert.equal(r.line(12), 'Still waiting for Anthropic… 12 s');
  assert.equal(r.line(20), 'Still waiting for Anthropic… 20 s · will retry in 10 s');
  assert.equal(spoken(situation(r.fold.view, began + 20_000)), 'Still waiting for Anthropic… · will retry');
  assert.equal(run({ autoRecover: false }).line(20), 'Still waiting for Anthropic… 20 s');
});

test('a call that is slow may be cut short, where silence has a limit', () => {
  const models = ['anthropic/opus', 'openai/gpt-5.2'];
  const r = run({ models });
  const at = (s: number): Situation => situation(r.fold.view, began + s * 1000);
  assert.deepEqual(at(19).actions, []);
  assert.deepEqual(at(20).actions.map((b) => [b.id, b.kind, b.model]), [['a1', 'retry_now', undefined], ['a2', 'switch_model', 'openai/gpt-5.2']]);
  assert.equal(at(20).asks, 'r-a1');
  r.at(21, 'failed', { attempt: 1, cause: 'cut_short', failure: { ...overloaded, kind: 'timeout', title: 'Anthropic was slow' } });
  assert.equal(at(21).asks, undefined);
  r.at(21, 'accepted', { suggestion: 'r-a1', action: 'a2' });
  assert.deepEqual(r.fold.view.entries.at(-1), { type: 'chosen', label: 'Switch to openai/gpt-5.2', model: 'openai/gpt-5.2', seq: 4 });
  r.at(21, 'began', { attempt: 2, round: 1, try: 1, model: 'openai/gpt-5.2', withdraws: 1 });
  assert.equal(r.line(22), 'Anthropic was slow. Switching to gpt-5.2…');
  assert.equal(r.line(41), 'Still waiting for OpenAI… 20 s · will retry in 10 s');
  assert.equal(at(41).asks, 'r-a2');
  r.fold.apply({ delta: { run: 'r', attempt: 2, offset: 0, text: 'It' } });
  assert.deepEqual(at(42).actions, []);

  assert.deepEqual(situation(run({ models, timeouts: {} }).fold.view, began + 20_000).actions, []);
  assert.equal(situation(run({ models, timeouts: { idleMs: 120_000 } }).fold.view, began + 20_000).actions.length, 2);
  const lost = run({ models });
  lost.at(20, 'claimed', { owner: 'o', epoch: 2 });
  assert.equal(lost.fold.view.attempt?.cutShort, undefined);
});

test('a failure that is recovered from: counted down, in flight, switched, and gone with the first token', () => {
  const r = run();
  r.at(1, 'failed', { attempt: 1, failure: overloaded });
  r.at(1, 'decided', { failure: 3, decision: { action: 'retry', delayMs: 4000 } });
  r.at(1, 'waiting', { id: 'w', for: 'time', until: '2026-03-01T09:00:05Z', model: 'anthropic/opus', retry: 2, of: 3, actions: [] });
  assert.equal(r.line(1), 'Anthropic is overloaded. Retrying in 4 s… (attempt 2/3)');
  assert.equal(r.line(2.5), 'Anthropic is overloaded. Retrying in 3 s… (attempt 2/3)');
  r.at(5, 'due', { timer: 'wait', failure: 3 });
  r.at(5, 'began', { attempt: 2, round: 1, try: 1, model: 'anthropic/opus', retry: true });
  assert.equal(r.line(6), 'Anthropic is overloaded. Retrying… (attempt 1/3)');
  r.at(7, 'failed', { attempt: 2, failure: overloaded });
  r.at(7, 'decided', { failure: 7, decision: { action: 'switch_model', newModel: 'openai/gpt-5.2' } });
  r.at(7, 'began', { attempt: 3, round: 1, try: 2, model: 'openai/gpt-5.2' });
  assert.equal(r.line(8), 'Anthropic is overloaded. Switching to gpt-5.2…');
  r.fold.apply({ delta: { run: 'r', attempt: 3, offset: 0, text: 'It' } });
  assert.equal(situation(r.fold.view, began + 9000).state, 'streaming');
  assert.deepEqual(r.fold.view.entries.map((e) => e.type), ['user', 'recovered', 'text']);
});

test('a first retry shorter than 1.5 s shows nothing', () => {
  const r = run();
  r.at(1, 'failed', { attempt: 1, failure: overloaded });
  r.at(1, 'decided', { failure: 3, decision: { action: 'retry', delayMs: 1000 } });
  r.at(1, 'waiting', { id: 'w', for: 'time', until: '2026-03-01T09:00:02Z', model: 'anthropic/opus', retry: 1, of: 3, actions: [] });
  assert.equal(r.line(1.5), 'Thinking…');
  r.at(2, 'due', { timer: 'wait', failure: 3 });
  r.at(2, 'began', { attempt: 2, round: 1, try: 1, model: 'anthropic/opus', retry: true });
  assert.equal(r.line(2.5), 'Thinking…');
});

test('an answer that was cut is shown until the one that is asked for once more has text, and again where that fails', () => {
  const texts = (r: ReturnType<typeof run>): string[] => r.fold.view.entries.flatMap((e) => (e.type === 'text' ? [e.text] : []));
  const cut = (): ReturnType<typeof run> => {
    const r = run();
    r.at(1, 'answered', { attempt: 1, message: { role: 'assistant', parts: [{ text: 'The moon is' }] }, usage: {}, stop: 'length' });
    r.at(1, 'began', { attempt: 2, round: 1, try: 0, model: 'anthropic/opus', again: true });
    assert.deepEqual([texts(r), r.fold.view.answer.truncated, r.fold.view.attempt?.cutShort], [['The moon is'], true, undefined]);
    assert.equal(r.line(21), 'Still waiting for Anthropic… 20 s');
    r.fold.apply({ delta: { run: 'r', attempt: 2, offset: 0, text: 'The mo' } });
    assert.deepEqual([texts(r), r.fold.view.answer.text, r.fold.view.answer.truncated], [['The mo'], 'The mo', false]);
    return r;
  };
  const well = cut();
  well.at(2, 'answered', { attempt: 2, message: { role: 'assistant', parts: [{ text: 'The moon is far.' }] }, usage: {}, stop: 'end' });
  assert.deepEqual([texts(well), well.fold.view.answer.truncated], [['The moon is far.'], false]);
  for (const [type, data] of [['failed', { attempt: 2, failure: overloaded }], ['ended', { status: 'cancelled', stopReason: 'cancelled' }]] as const) {
    const r = cut();
    r.at(2, type, data);
    assert.deepEqual([texts(r), r.fold.view.answer.text, r.fold.view.answer.truncated, r.fold.view.error], [['The moon is'], 'The moon is', true, undefined]);
  }
});

test('waits for the network and for a reset', () => {
  const r = run();
  r.at(1, 'failed', { attempt: 1, failure: overloaded });
  r.at(1, 'waiting', { id: 'w', for: 'network', model: 'anthropic/opus', retry: 1, of: 3, actions: [] });
  assert.equal(r.line(1), 'This computer is offline. The run continues when the connection is back.');
  const s = run();
  s.at(1, 'failed', { attempt: 1, failure: overloaded });
  s.at(1, 'waiting', { id: 'w', for: 'reset', until: '2026-03-01T15:00:00Z', model: 'anthropic/opus', retry: 1, of: 3, actions: [] });
  assert.equal(s.line(1), `Waiting for Anthropic until ${clock(Date.parse('2026-03-01T15:00:00Z'), began)}. You can close this page.`);
});

test('a slip in a kind is found by the compiler', () => {
  // @ts-expect-error a kind of nobody's
  const kind: Kind = 'rate_limitt';
  const tomorrow: string = ({ kind } as { kind: Kind }).kind; // what a newer gateway sends is read as it is
  assert.equal(tomorrow, 'rate_limitt');
});

test('words', () => {
  assert.equal(limitInWords('round_limit'), 'the run has had all its rounds');
  assert.equal(limitInWords('a_limit_of_tomorrow'), 'a limit of tomorrow');
  assert.equal(spell(42_900), '42 s');
  assert.equal(spell(3_900_000), '1 h 5 min');
  assert.equal(spell(3_200, true), '4 s');
  assert.equal(spell(0), '0 s');
  const tried = { model: 'a/one', failure: overloaded } as unknown as TriedFailure;
  const r = { attempt: 1, retries: 0, from: 'a/one', tried: [tried] };
  assert.equal(recovered({ ...r, retries: 2, switchedTo: 'openai/gpt-5.2' }), 'Recovered after 2 retries · now using gpt-5.2');
  assert.equal(recovered({ ...r, retries: 1 }), 'Recovered after 1 retry');
  assert.equal(recovered({ ...r, switchedTo: 'a/b' }), 'Recovered after a model switch · now using b');
  assert.equal(recovered({ ...r, tried: [], passedOver: tried.failure, switchedTo: 'a/b' }), 'one is cooling down · now using b');
});

test('text is said to be kept where there is some', () => {
  const r = run();
  r.at(1, 'cancel_requested', {});
  r.at(1, 'ended', { status: 'cancelled', stopReason: 'cancelled' });
  assert.equal(r.line(2), 'Stopped.');
  const said = run();
  said.fold.apply({ delta: { run: 'r', attempt: 1, offset: 0, text: 'It' } });
  said.at(1, 'ended', { status: 'cancelled', stopReason: 'cancelled' });
  assert.equal(said.line(2), 'Stopped. The text above is kept.');
});

test('an answer that its model could not finish is marked', () => {
  const r = run();
  r.at(1, 'answered', { attempt: 1, message: { role: 'assistant', parts: [{ text: 'It is' }] }, usage: {}, stop: 'length' });
  assert.deepEqual(r.fold.view.entries.at(-1), { type: 'text', key: 'a1', text: 'It is', model: 'anthropic/opus', partial: false, truncated: true });
});

test('a model that cools down is passed over, and that stays in the conversation', () => {
  const fold = new Fold();
  let seq = 0;
  const happens = (type: string, data: unknown): void =>
    fold.apply({ event: { v: 1, run: 'r', seq: ++seq, time: new Date(began).toISOString(), type, data } as RunEvent });
  happens('started', { model: 'a/one', input: [], policy: { autoRecover: true, maxRetries: 3, timeouts: {} } });
  happens('failed', { cause: 'cooling', failure: { ...overloaded, kind: 'rate_limit', variant: 'cooling', model: 'a/one', title: 'one is cooling down' } });
  happens('decided', { failure: 2, decision: { action: 'switch_model', newModel: 'b/two' } });
  happens('began', { attempt: 1, round: 1, try: 0, model: 'b/two' });
  assert.equal(situation(fold.view, began).line.map((p) => p.text).join(''), 'one is cooling down. Switching to two…');
  happens('answered', { attempt: 1, message: { role: 'assistant', parts: [{ text: 'Done.' }] }, usage: {}, stop: 'end' });
  const said = fold.view.entries.map((entry) => (entry.type === 'recovered' ? recovered(entry.recovery) : entry.type));
  assert.deepEqual(said, ['one is cooling down · now using two', 'text']);
});

test('times are told in one form, where this person is', () => {
  const at = '2026-03-01T15:00:00Z';
  const there = clock(Date.parse(at), began);
  assert.equal(localize('It resets at 15:00 UTC (in 6 h).', at, began), `It resets at ${there} (in 6 h).`);
  assert.equal(localize('It resets at 15:00 UTC on March 1.', at, began), `It resets at ${there}.`);
  assert.equal(localize('It resets at 15:00 UTC.', undefined, began), 'It resets at 15:00 UTC.');
  assert.match(clock(Date.parse('2027-03-01T15:00:00Z'), began), / on (February 28|March [12]), 2027$/);
  const r = run();
  const failure = { ...overloaded, kind: 'quota', resetsAt: at };
  r.at(1, 'failed', { attempt: 1, failure });
  r.at(1, 'decided', { failure: 3, decision: {} });
  r.at(1, 'suggested', { suggestion: {
    id: 's', expiresAt: '2026-03-02T09:00:00Z', title: 'Usage limit', message: 'It resets at 15:00 UTC.', error: failure, resetsAt: at, tried: [],
    actions: [{ id: 'a1', kind: 'resume_at', label: 'Continue at 15:00 UTC', effect: 'runner' }],
  } });
  const s = situation(r.fold.view, began + 2000);
  assert.equal(s.suggestion?.message, `It resets at ${there}.`);
  assert.equal(s.actions[0]?.label, `Continue at ${there}`);
});
