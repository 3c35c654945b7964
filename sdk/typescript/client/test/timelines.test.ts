import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

import { Fold, type RunEvent, type View } from '../src/index.js';

// Compiled, this file is in dist/test.
const timelines = new URL('../../../../conformance/timelines/', import.meta.url);

interface Golden {
  events: RunEvent[];
  views: Record<string, unknown>[];
}

function brief(v: View): Record<string, unknown> {
  return {
    status: v.status, waitingFor: v.waitingFor ?? '', stopReason: v.stopReason ?? '', asked: v.model, text: v.answer.text, model: v.answer.model,
    partial: v.answer.partial, truncated: v.answer.truncated, inAir: v.attempt?.id ?? 0, retry: v.attempt?.retry ?? 0,
    cutShort: [v.attempt?.cutShort?.id ?? '', ...(v.attempt?.cutShort?.actions ?? []).map((b) => b.label)].join(', '),
    wait: v.wait?.id ?? '', suggestion: v.suggestion?.id ?? '', error: v.error?.code ?? '', tokens: v.usage.tokens, wasted: v.usage.wastedTokens,
  };
}

const names = readdirSync(timelines).filter((name) => name.endsWith('.json'));
assert.ok(names.length > 20, 'the golden timelines are there');

for (const name of names) {
  test(`the fold of ${name} is the runner's`, () => {
    const golden = JSON.parse(readFileSync(new URL(name, timelines), 'utf8')) as Golden;
    const fold = new Fold();
    golden.events.forEach((event, i) => {
      fold.apply({ event });
      assert.deepEqual(brief(fold.view), golden.views[i], `after event ${event.seq}, ${event.type}`);
      shows(fold.view);
    });
  });
}

/** What is shown of an answer is the answer, once. */
function shows(v: View): void {
  const texts = v.entries.flatMap((entry) => (entry.type === 'text' ? [entry.text] : []));
  if (v.answer.text) {
    assert.equal(texts.at(-1), v.answer.text);
  }
  assert.ok(v.entries.filter((entry) => entry.type === 'text' && entry.partial).length <= 1);
}
