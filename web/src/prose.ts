import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';

import './clip.js';
import { coloured } from './colours.js';
import { drawFormulas } from './formulas.js';
import { safe } from './markdown.js';
import { Pieces, type Piece } from './pieces.js';

/** How much of a frame all messages together may use for drawing; the browser needs the rest for layout. */
const BUDGET_MS = 8;
const MAX_A_FRAME = 32;

/** How much is drawn in a frame, in characters, because the time for breaking it into lines is not known in advance. */
const MAX_TEXT = 12_000;

/** How much of a message is shown until the person asks for more, in characters. */
const MAX_SHOWN = 200_000;

/** Text further down in a message than this is not laid out while it is out of sight, and code there has no colours, in characters. */
const FAR = 40_000;

/**
 * How much of a message is in one place, in characters, and in pieces at most. A place without changes is not drawn again, and the
 * browser checks in every frame which places it may skip, so there should be few.
 */
const TOGETHER = 3_000;
const MAX_TOGETHER = 64;

/** What is left of the frame, and who waits for the next one. */
const frame = { spent: 0, pieces: 0, text: 0, asked: false, waiting: new Set<Prose>() };

/** Begins a new frame for the messages that are not done. */
function nextFrame(): void {
  frame.spent = 0;
  frame.pieces = 0;
  frame.text = 0;
  frame.asked = false;
  const waiting = [...frame.waiting];
  frame.waiting.clear();
  for (const prose of waiting) {
    prose.requestUpdate();
  }
}

function askForFrame(): void {
  if (!frame.asked) {
    frame.asked = true;
    if (document.hidden) {
      setTimeout(nextFrame, 50); // a window in the background has no frames
    } else {
      requestAnimationFrame(() => setTimeout(nextFrame));
    }
  }
}

/** A model's Markdown, drawn in pieces, as many per frame as there is time for. */
class Prose extends LitElement {
  static override properties = { text: { attribute: false }, shown: { state: true } };
  declare text: string;
  declare shown: number;
  private readonly pieces = new Pieces();
  private drawn: TemplateResult[] = [];
  /** Whether there are formulas that are not drawn yet. */
  private readonly formulas = { found: false };

  constructor() {
    super();
    this.text = '';
    this.shown = MAX_SHOWN;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('text') || changed.has('shown')) {
      this.drawn.length = Math.min(this.drawn.length, this.pieces.take(this.text.slice(0, this.shown)));
    }
    while (this.drawn.length < this.pieces.length && frame.spent < BUDGET_MS && frame.pieces < MAX_A_FRAME && frame.text < MAX_TEXT) {
      const begin = performance.now();
      frame.text += this.pieces.sizeOf(this.drawn.length);
      this.drawn.push(draw(this.pieces.at(this.drawn.length), this.pieces.startOf(this.drawn.length) < FAR, this.formulas));
      frame.pieces++;
      frame.spent += performance.now() - begin;
      askForFrame();
    }
    const more = this.drawn.length < this.pieces.length;
    this.toggleAttribute('data-drawing', more);
    if (more) {
      frame.waiting.add(this);
    }
  }

  protected override updated(): void {
    if (this.formulas.found) {
      this.formulas.found = false;
      drawFormulas(this);
    }
  }

  /** The pieces that are drawn, by place. */
  private places(): unknown[] {
    const places = [];
    let [first, size] = [0, 0];
    for (let i = 0; i < this.drawn.length; i++) {
      size += this.pieces.sizeOf(i);
      if (size >= TOGETHER || i - first >= MAX_TOGETHER - 1 || i === this.drawn.length - 1) {
        const together = this.drawn.slice(first, i + 1);
        const name = this.pieces.startOf(first) < FAR ? 'place' : 'place far';
        places.push(html`<div class=${name}>${guard(together, () => together)}</div>`);
        [first, size] = [i + 1, 0];
      }
    }
    return places;
  }

  protected override render(): TemplateResult {
    const rest = this.text.length - this.shown;
    return html`${this.places()}${rest > 0 ? html`<button class="link" @click=${() => { this.shown += MAX_SHOWN; }}>Show more (${rest.toLocaleString('en-US')} characters)</button>` : nothing}`;
  }
}

/** Finds the code of a button, including the pieces that continue it. */
function wholeCode(e: Event): void {
  const button = e.currentTarget as HTMLElement & { text: string };
  const all = [...(button.closest('mulligan-prose')?.querySelectorAll('pre') ?? [])];
  const first = all.indexOf(button.previousElementSibling as HTMLPreElement);
  const rest = all.slice(first + 1);
  const end = rest.findIndex((pre) => !pre.classList.contains('joined'));
  button.text = [all[first], ...rest.slice(0, end < 0 ? rest.length : end)].map((pre) => pre?.textContent ?? '').join('');
}

/** Shows a piece, code with or without colours; as written if it cannot be drawn otherwise. */
function draw(piece: Piece, colours: boolean, formulas: { found: boolean }): TemplateResult {
  if (piece.kind === 'code') {
    const pre = html`<pre class=${piece.joined ? 'joined' : nothing} tabindex="0">${piece.language && colours ? html`<code ${coloured(piece.language, piece.text)}>${piece.text}</code>` : html`<code>${piece.text}</code>`}</pre>`;
    return piece.joined ? pre : html`${pre}<mulligan-copy class="ofcode" .what=${'code'} .text=${() => ''} @click=${{ handleEvent: wholeCode, capture: true }}></mulligan-copy>`;
  }
  if (piece.kind === 'markdown') {
    try {
      const made = safe(piece.text);
      formulas.found ||= made.includes('class="formula');
      return html`${unsafeHTML(made)}`;
    } catch {
      // nested too deeply, or an unforeseen error
    }
  }
  return html`<p class="plain" dir="auto">${piece.text}</p>`;
}

customElements.define('mulligan-prose', Prose);
