import { noChange } from 'lit';
import { AsyncDirective, directive } from 'lit/async-directive.js';
import type { ElementPart } from 'lit';

import { kinds, type Asked, type Told } from './stretches.js';

/** Code that the worker thinks about for longer than this stays as it is, in milliseconds. */
const MAX_MS = 1000;

/** Code that grows is looked at when nothing has come for so long, in milliseconds. */
const PAUSE_MS = 150;

/** More stretches than this nobody sees at once, and browsers become slow: what comes then stays as it is. */
const MAX_STRETCHES = 8_000;

/** Colours are put on text without a change of the page; a browser that cannot do that shows code as it is. */
const highlights = typeof Highlight === 'undefined' ? undefined : kinds.map((_, kind) => {
  const highlight = new Highlight();
  CSS.highlights.set(`code-${kind}`, highlight);
  return highlight;
});

let worker: Worker | undefined;
let asked = 0;
let shown = 0;
const waiting = new Map<number, (stretches: number[]) => void>();

/** Asks the worker, one question after another; one that it does not get over is its last one. */
let turn: Promise<unknown> = Promise.resolve();

function ask(language: string, text: string): Promise<number[]> {
  const answer = turn.then(() => new Promise<number[]>((resolve) => {
    const id = ++asked;
    const over = (stretches: number[]): void => {
      clearTimeout(late);
      waiting.delete(id);
      resolve(stretches);
    };
    const late = setTimeout(() => {
      worker?.terminate();
      worker = undefined;
      over([]);
    }, worker ? MAX_MS : 5 * MAX_MS); // it has to be loaded first
    waiting.set(id, over);
    const to = start();
    if (to) {
      to.postMessage({ id, language, text } satisfies Asked);
    } else {
      over([]);
    }
  }));
  turn = answer;
  return answer;
}

function start(): Worker | undefined {
  try {
    if (!worker) {
      worker = new Worker('code.js', { type: 'module' });
      worker.onmessage = (e: MessageEvent<Told>) => waiting.get(e.data.id)?.(e.data.stretches);
      worker.onerror = () => waiting.forEach((over) => over([]));
    }
    return worker;
  } catch {
    return undefined; // not every page may have one
  }
}

class Coloured extends AsyncDirective {
  private ranges: [Highlight, StaticRange][] = [];
  private of = '';
  private pause: ReturnType<typeof setTimeout> | undefined;

  render(_language: string, _text: string): unknown {
    return noChange;
  }

  override update(part: ElementPart, [language, text]: [string, string]): unknown {
    if (highlights && this.of !== text) {
      this.of = text;
      clearTimeout(this.pause);
      this.pause = setTimeout(() => void this.colour(part.element, language, text), PAUSE_MS);
    }
    return noChange;
  }

  private async colour(code: Element, language: string, text: string): Promise<void> {
    const stretches = await ask(language, text);
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
    this.clear();
  }
}

/** Colours code by its language, once it has come: `<code ${coloured('go', text)}>${text}</code>`. */
export const coloured = directive(Coloured);
