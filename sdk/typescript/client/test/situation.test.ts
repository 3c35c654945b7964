import assert from 'node:assert/strict';
import test from 'node:test';

import { clock, Fold, localize, seen, spell, spoken, type Kind, type RunEvent, type Situation, type Stage } from '../src/index.js';

const began = Date.parse('2026-03-01T09:00:00Z');
const at = (s: number): string => new Date(began + s * 1000).toISOString();

/** A run to which things happen at seconds of its life. */
function run(): { at: (s: number, type: string, data: unknown, text?: string) => void; line: (s: number) => string; says: (...stages: Stage[]) => void; fold: Fold } {
  const fold = new Fold();
  let seq = 0;
  const happens = (s: number, type: string, data: unknown, text?: string): void =>
    fold.apply({ event: { v: 1, run: 'r', seq: ++seq, time: at(s), type, data, ...(text && { text }) } as RunEvent });
  happens(0, 'started', { model: 'anthropic/opus', input: [{ role: 'user', parts: [{ text: 'hi' }] }], policy: { autoRecover: true } });
  happens(0, 'began', { attempt: 1, round: 1, try: 0, model: 'anthropic/opus' });
  const says = (...stages: Stage[]): void => fold.apply({ situation: { ...situation, stages } });
  return { fold, at: happens, says, line: (s) => seen(fold.view, began + s * 1000).line.map((p) => p.text).join('') };
}

const situation: Situation = { seq: 2, status: 'running', model: 'anthropic/opus', inAir: 1, stages: [] };

const calling: Stage[] = [
  { from: at(0), state: 'thinking', line: 'Thinking…', since: at(0) },
  { from: at(3), state: 'thinking', line: 'Thinking… {elapsed}', since: at(0) },
  { from: at(12), state: 'slow', line: 'Still waiting for Anthropic… {elapsed}', since: at(0), stop: true },
  {
    from: at(20), state: 'slow', line: 'Still waiting for Anthropic… {elapsed} · will retry in {countdown}', since: at(0), until: at(30), stop: true,
    asks: 'r-a1', actions: [{ id: 'a1', kind: 'retry_now', label: 'Retry now', effect: 'runner' }],
  },
];

const overloaded = { kind: 'overloaded', code: 'MODEL_PROVIDER_UNAVAILABLE', provider: 'anthropic', title: 'Anthropic is overloaded', message: 'm' };

test('the stage that counts is the last one that has begun', () => {
  const r = run();
  assert.equal(r.line(1), '');
  r.says(...calling);
  assert.equal(r.line(-1), 'Thinking…');
  assert.equal(r.line(1), 'Thinking…');
  assert.equal(r.line(5), 'Thinking… 5 s');
  assert.equal(r.line(12), 'Still waiting for Anthropic… 12 s');
  assert.equal(r.line(20), 'Still waiting for Anthropic… 20 s · will retry in 10 s');
  const s = seen(r.fold.view, began + 20_000);
  assert.equal(spoken(s), 'Still waiting for Anthropic… · will retry');
  assert.deepEqual([s.asks, s.stop, s.actions.map((b) => b.id)], ['r-a1', true, ['a1']]);
});

test('a model that reasons is not slow, and once it writes there is no line', () => {
  const r = run();
  r.says(...calling);
  r.fold.apply({ delta: { run: 'r', attempt: 1, offset: 0, text: 'Hm', thinking: true } });
  assert.equal(r.line(25), 'Thinking… 25 s');
  r.fold.apply({ delta: { run: 'r', attempt: 1, offset: 0, text: 'It' } });
  assert.deepEqual(seen(r.fold.view, began + 25_000), { state: 'idle', line: [], actions: [], stop: false });
});

test('what is said beside a time that ticks goes with it', () => {
  const r = run();
  r.says({ from: at(0), state: 'retry_wait', line: 'Anthropic is overloaded. Retrying in {countdown}… (attempt 2/3)', until: at(4) });
  assert.equal(r.line(0), 'Anthropic is overloaded. Retrying in 4 s… (attempt 2/3)');
  assert.equal(r.line(1.5), 'Anthropic is overloaded. Retrying in 3 s… (attempt 2/3)');
  assert.equal(r.line(9), 'Anthropic is overloaded. Retrying in 0 s… (attempt 2/3)');
  assert.equal(spoken(seen(r.fold.view, began)), 'Anthropic is overloaded. Retrying… (attempt 2/3)');
  r.says({ from: at(0), state: 'tool_slow', line: 'Still working: run_tests, {elapsed}', since: at(0) });
  assert.equal(spoken(seen(r.fold.view, began)), 'Still working: run_tests');
});

test('a card counts down, and tells times where this person is', () => {
  const r = run();
  const suggestion = { id: 's', expiresAt: at(90_000), title: 'T', message: 'm', error: overloaded, tried: [], actions: [] };
  const stage: Stage = {
    from: at(1), state: 'suggestion', until: at(27), asks: 's', actions: [{ id: 'a1', kind: 'resume_at', label: 'Continue at {clock}', effect: 'runner' }],
    card: { title: 'opus is cooling down', message: 'It is left alone for {countdown}.' },
  };
  r.fold.apply({ situation: { ...situation, suggestion: 's', status: 'failed', stages: [stage, { ...stage, from: at(27), card: { title: 'opus is cooling down', message: 'It may be asked again now.' } }, { from: at(90_000), state: 'expired', line: 'Expired.' }] } });
  assert.equal(r.fold.view.suggestion, undefined); // its event comes next
  r.at(1, 'suggested', { suggestion });
  const s = seen(r.fold.view, began + 7000);
  assert.deepEqual([s.card?.message, s.actions[0]?.label, s.suggestion?.id], ['It is left alone for 20 s.', `Continue at ${clock(began + 27_000, began)}`, 's']);
  assert.equal(spoken(s), 'opus is cooling down. It is left alone for 20 s.');
  assert.equal(seen(r.fold.view, began + 27_000).card?.message, 'It may be asked again now.');
  assert.deepEqual([seen(r.fold.view, began + 90_000_000).state, r.line(90_000)], ['expired', 'Expired.']);
});

test('what cannot be written down is said until something happens', () => {
  const r = run();
  r.says(...calling);
  r.fold.apply({ notice: { run: 'r', text: 'The run waits for its store.' } });
  assert.deepEqual([r.line(5), seen(r.fold.view, began).state], ['The run waits for its store.', 'wait_store']);
  r.at(5, 'noted', { topic: 'progress' });
  assert.equal(r.line(5), 'Thinking… 5 s');
});

test('what it took to be answered stands above the first word', () => {
  const r = run();
  r.at(1, 'failed', { attempt: 1, failure: overloaded });
  r.at(7, 'began', { attempt: 2, round: 1, try: 1, model: 'openai/gpt-5.2' });
  const recovered = 'Recovered after a model switch · now using openai/gpt-5.2';
  r.fold.apply({ situation: { ...situation, inAir: 2, recovered, stages: calling } });
  r.fold.apply({ delta: { run: 'r', attempt: 2, offset: 0, text: 'It' } });
  assert.deepEqual(r.fold.view.entries.map((e) => e.type), ['user', 'recovered', 'text']);
  r.at(8, 'answered', { attempt: 2, message: { role: 'assistant', parts: [{ text: 'It is.' }] }, usage: {}, stop: 'end' }, recovered);
  const [, line, text] = r.fold.view.entries;
  assert.ok(line?.type === 'recovered' && text?.type === 'text' && text.text === 'It is.' && r.fold.view.entries.length === 3);
  assert.deepEqual([line.recovery.text, line.recovery.switchedTo, line.recovery.tried.length], [recovered, 'openai/gpt-5.2', 1]);
});

test('what a person chose is told in the words of its event, and what came too late is not', () => {
  const r = run();
  r.at(1, 'failed', { attempt: 1, failure: overloaded });
  r.at(2, 'accepted', { suggestion: 's', action: 'a1' });
  assert.equal(r.fold.view.entries.length, 1);
  r.at(3, 'accepted', { suggestion: 's', action: 'a1' }, 'You chose: Retry');
  assert.deepEqual(r.fold.view.entries.at(-1), { type: 'chosen', text: 'You chose: Retry', seq: 5 });
});

test('an answer that was cut is shown until the one that is asked for once more has text, and again where that fails', () => {
  const texts = (r: ReturnType<typeof run>): string[] => r.fold.view.entries.flatMap((e) => (e.type === 'text' ? [e.text] : []));
  const cut = (): ReturnType<typeof run> => {
    const r = run();
    r.at(1, 'answered', { attempt: 1, message: { role: 'assistant', parts: [{ text: 'The moon is' }] }, usage: {}, stop: 'length' });
    r.at(1, 'began', { attempt: 2, round: 1, try: 0, model: 'anthropic/opus', again: true });
    assert.deepEqual([texts(r), r.fold.view.answer.truncated], [['The moon is'], true]);
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

test('a slip in a kind is found by the compiler', () => {
  // @ts-expect-error a kind of nobody's
  const kind: Kind = 'rate_limitt';
  const tomorrow: string = ({ kind } as { kind: Kind }).kind; // what a newer gateway sends is read as it is
  assert.equal(tomorrow, 'rate_limitt');
});

test('words', () => {
  assert.equal(spell(42_900), '42 s');
  assert.equal(spell(3_900_000), '1 h 5 min');
  assert.equal(spell(3_200, true), '4 s');
  assert.equal(spell(0), '0 s');
});

test('an answer that its model could not finish is marked', () => {
  const r = run();
  r.at(1, 'answered', { attempt: 1, message: { role: 'assistant', parts: [{ text: 'It is' }] }, usage: {}, stop: 'length' });
  assert.deepEqual(r.fold.view.entries.at(-1), { type: 'text', key: 'a1', text: 'It is', model: 'anthropic/opus', partial: false, truncated: true });
});

test('a model that cools down is passed over, and that stays in the conversation', () => {
  const r = run();
  r.at(1, 'failed', { cause: 'cooling', failure: { ...overloaded, kind: 'rate_limit', variant: 'cooling', model: 'a/one', title: 'one is cooling down' } });
  r.at(1, 'began', { attempt: 2, round: 1, try: 0, model: 'b/two' });
  r.at(2, 'answered', { attempt: 2, message: { role: 'assistant', parts: [{ text: 'Done.' }] }, usage: {}, stop: 'end' }, 'a/one is cooling down · now using b/two');
  const said = r.fold.view.entries.map((entry) => (entry.type === 'recovered' ? [entry.recovery.text, entry.recovery.from, entry.recovery.passedOver?.title] : entry.type));
  assert.deepEqual(said, ['user', ['a/one is cooling down · now using b/two', 'a/one', 'one is cooling down'], 'text']);
});

test('times are told in one form, where this person is', () => {
  const time = '2026-03-01T15:00:00Z';
  const there = clock(Date.parse(time), began);
  assert.equal(localize('It resets at 15:00 UTC (in 6 h).', time, began), `It resets at ${there} (in 6 h).`);
  assert.equal(localize('It resets at 15:00 UTC on March 1.', time, began), `It resets at ${there}.`);
  assert.equal(localize('It resets at 15:00 UTC.', undefined, began), 'It resets at 15:00 UTC.');
  assert.match(clock(Date.parse('2027-03-01T15:00:00Z'), began), / on (February 28|March [12]), 2027$/);
});
