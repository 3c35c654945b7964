import { noChange } from 'lit';
import { AsyncDirective, directive } from 'lit/async-directive.js';
import type { ElementPart } from 'lit';

import { Asker } from './asker.js';
import { kinds, type Asked } from './stretches.js';

/** Growing code is coloured after a pause this long, in milliseconds. */
const PAUSE_MS = 150;

/** More stretches and blocks than these are too many to see at once, and slow browsers down; code beyond them is not coloured. */
const MAX_STRETCHES = 8_000;
const MAX_BLOCKS = 300;

/** Colours are set without changing the page's elements; a browser without that feature shows code uncoloured. */
const highlights = typeof Highlight === 'undefined' ? undefined : kinds.map((_, kind) => {
  const highlight = new Highlight();
  CSS.highlights.set(`code-${kind}`, highlight);
  return highlight;
});

const asker = new Asker<Asked, number[]>('code.js');
let shown = 0;
let blocks = 0;

class Coloured extends AsyncDirective {
  private ranges: [Highlight, StaticRange][] = [];
  private of = '';
  private pause: ReturnType<typeof setTimeout> | undefined;
  /** It is counted among the coloured blocks. */
  private counted = false;

  render(_language: string, _text: string): unknown {
    return noChange;
  }

  override update(part: ElementPart, [language, text]: [string, string]): unknown {
    if (highlights && this.of !== text && (this.counted || blocks < MAX_BLOCKS)) {
      blocks += this.counted ? 0 : 1;
      this.counted = true;
      this.of = text;
      clearTimeout(this.pause);
      this.pause = setTimeout(() => void this.colour(part.element, language, text), PAUSE_MS);
    }
    return noChange;
  }

  private async colour(code: Element, language: string, text: string): Promise<void> {
    const stretches = await asker.ask({ language, text }) ?? [];
    const node = [...code.childNodes].find((n) => n instanceof Text && n.data !== '');
    if (this.of !== text || !this.isConnected || !(node instanceof Text) || node.data !== text) {
      return;
    }
    this.clear();
    for (let i = 0; i < stretches.length && shown < MAX_STRETCHES; i += 3) {
      const [from = 0, to = 0, kind = 0] = stretches.slice(i, i + 3);
      const highlight = highlights?.[kind];
      if (highlight) {
        const range = new StaticRange({ startContainer: node, startOffset: from, endContainer: node, endOffset: to });
        highlight.add(range);
        this.ranges.push([highlight, range]);
        shown++;
      }
    }
  }

  private clear(): void {
    for (const [highlight, range] of this.ranges) {
      highlight.delete(range);
      shown--;
    }
    this.ranges = [];
  }

  protected override disconnected(): void {
    clearTimeout(this.pause);
    this.of = '';
    blocks -= this.counted ? 1 : 0;
    this.counted = false;
    this.clear();
  }
}

/** Colours code by its language, after it has arrived: `<code ${coloured('go', text)}>${text}</code>`. */
export const coloured = directive(Coloured);
