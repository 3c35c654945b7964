import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

import { Fold, seen, type RunEvent, type Situation, type View } from '../src/index.js';

// Compiled, this file is in dist/test.
const timelines = new URL('../../../../conformance/timelines/', import.meta.url);

interface Golden {
  events: RunEvent[];
  /** `situation` is there where it is another one than before. */
  views: ({ situation?: Situation } & Record<string, unknown>)[];
}

function brief(v: View): Record<string, unknown> {
  return {
    asked: v.model, text: v.answer.text, model: v.answer.model, partial: v.answer.partial, truncated: v.answer.truncated,
    error: v.error?.code ?? '', tokens: v.usage.tokens, wasted: v.usage.wastedTokens,
  };
}

const names = readdirSync(timelines).filter((name) => name.endsWith('.json'));
assert.ok(names.length > 20, 'the golden timelines are there');

for (const name of names) {
  test(`the fold of ${name} is the runner's`, () => {
    const golden = JSON.parse(readFileSync(new URL(name, timelines), 'utf8')) as Golden;
    const fold = new Fold();
    golden.events.forEach((event, i) => {
      const { situation, ...view } = golden.views[i] ?? {};
      if (situation) { // a gateway sends it right before the event
        fold.apply({ situation });
      }
      fold.apply({ event });
      assert.deepEqual(brief(fold.view), view, `after event ${event.seq}, ${event.type}`);
      shows(fold.view, event);
    });
  });
}

/** What is shown of an answer is the answer, once, and below it what the gateway says, without a placeholder. */
function shows(v: View, event: RunEvent): void {
  const texts = v.entries.flatMap((entry) => (entry.type === 'text' ? [entry.text] : []));
  if (v.answer.text) {
    assert.equal(texts.at(-1), v.answer.text);
  }
  assert.ok(v.entries.filter((entry) => entry.type === 'text' && entry.partial).length <= 1);
  const at = Date.parse(event.time);
  assert.equal(v.status, v.situation?.status);
  assert.equal(v.suggestion?.id, v.situation?.suggestion);
  for (const later of [0, 5, 15, 25, 3600, 100_000].map((s) => at + s * 1000)) {
    const s = seen(v, later);
    assert.doesNotMatch(JSON.stringify(s), /\{(elapsed|countdown|clock|leave)\}|Invalid|NaN/, `${event.type}: ${JSON.stringify(s)}`);
  }
  assert.equal(seen(v, at).card !== undefined, ['suggestion', 'failed'].includes(seen(v, at).state));
}
