/** How people call a provider, and where it says how it is. */

import { named } from './table.js';
import { lower, size } from './text.js';
import { texts } from './texts.js';

const providers = named(texts.providers);

function provider(entry: string): readonly string[] | undefined {
  if (size(entry) > 200) {
    return undefined;
  }
  for (let name = lower(entry); ; ) {
    const known = providers.get(name);
    if (known) {
      return known;
    }
    const end = Math.max(...[...'-_.:@ '].map((mark) => name.lastIndexOf(mark)));
    if (end < 0) {
      return undefined;
    }
    name = name.slice(0, end);
  }
}

/** How people call the provider behind an entry: "openai-work" is OpenAI. */
export function providerName(entry: string): string {
  return provider(entry)?.[0] ?? entry;
}

/** The status page of the provider behind an entry, "" where none is known. */
export function statusUrl(entry: string): string {
  return provider(entry)?.[1] ?? '';
}
