import { providerName, type AnsweredOne, type Client, type OpenCause } from '@mulligan-run/client';
import { html, LitElement, nothing, type TemplateResult } from 'lit';

import { explain } from './conversation.js';
import { lasting } from './figures.js';
import { shortly } from './words.js';

/** How many suggestions one request answers; between two requests the rest can be stopped. */
const AT_ONCE = 50;

type Offer = OpenCause['offers'][number];

/** A bulk answer, from its preview to its results. */
interface Bulk {
  cause: OpenCause;
  offer: Offer;
  state: 'looking' | 'preview' | 'going' | 'over';
  results: AnsweredOne[];
  /** How many were tried. */
  done: number;
  trouble?: string;
}

/** What waits for a person, grouped by cause. */
export class Needs extends LitElement {
  static override properties = { causes: { attribute: false }, bulk: { state: true } };
  declare client: Client;
  declare causes: OpenCause[];
  declare bulk: Bulk | undefined;
  /** The button of the preview or the result that is shown. */
  private opener: HTMLElement | undefined;
  /** Whether the focus was in the preview or the result when this was last drawn. */
  private inBulk = false;

  constructor() {
    super();
    this.causes = [];
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(): void {
    this.inBulk = this.querySelector('.bulk')?.contains(document.activeElement) ?? false;
  }

  /** The result of an answer is drawn at another place once its cause is gone, and takes the focus along. */
  protected override updated(): void {
    if (this.inBulk && document.activeElement === document.body) {
      this.querySelector<HTMLElement>('.bulk button')?.focus();
    }
  }

  private request(b: { cause: OpenCause; offer: Offer }) {
    const { kind, provider } = b.cause;
    return { ...(kind ? { kind } : {}), ...(provider ? { provider } : {}), action: b.offer.action, ...(b.offer.model ? { model: b.offer.model } : {}) };
  }

  /** Shows what an answer would do. */
  private async preview(cause: OpenCause, offer: Offer, opener: EventTarget | null): Promise<void> {
    this.opener = opener instanceof HTMLElement ? opener : undefined;
    this.bulk = { cause, offer, state: 'looking', results: [], done: 0 };
    try {
      const { results } = await this.client.answer({ ...this.request(this.bulk), dryRun: true });
      this.bulk = { ...this.bulk, state: 'preview', results };
    } catch (error) {
      this.bulk = { ...this.bulk, state: 'over', trouble: explain(error) };
    }
    await this.updateComplete;
    this.querySelector<HTMLElement>('.bulk button')?.focus();
  }

  /** Answers what was previewed, in batches; sending an answer twice has no effect. */
  private async answer(): Promise<void> {
    const b = this.bulk;
    if (!b) {
      return;
    }
    const runs = b.results.filter((r) => r.state === 'would').map((r) => r.run);
    const results: AnsweredOne[] = b.results.filter((r) => r.state === 'none');
    this.bulk = { ...b, state: 'going', done: 0 };
    try {
      for (let at = 0; at < runs.length; at += AT_ONCE) {
        const some = runs.slice(at, at + AT_ONCE);
        results.push(...(await this.client.answer({ ...this.request(b), runs: some })).results);
        this.bulk = { ...b, state: 'going', results, done: at + some.length };
      }
      this.bulk = { ...b, state: 'over', results, done: runs.length };
    } catch (error) {
      this.bulk = { ...b, state: 'over', results, done: runs.length, trouble: explain(error) };
    }
    this.dispatchEvent(new CustomEvent('answered', { bubbles: true }));
    await this.updateComplete;
    this.querySelector<HTMLElement>('.bulk button')?.focus();
  }

  private escape(e: KeyboardEvent): void {
    if (e.key === 'Escape' && (this.bulk?.state === 'preview' || this.bulk?.state === 'over')) {
      void this.close();
    }
  }

  /** Closes a preview or a result. The focus goes back to the button that opened it, to the next one if that is gone, or to the runs. */
  private async close(): Promise<void> {
    const opener = this.opener;
    this.bulk = undefined;
    await this.updateComplete;
    (opener?.isConnected ? opener : this.querySelector<HTMLElement>('.cause button') ?? document.querySelector<HTMLElement>('.row a[tabindex="0"]'))?.focus();
  }

  protected override render(): TemplateResult | typeof nothing {
    if (this.causes.length === 0 && !this.bulk) {
      return nothing;
    }
    const all = this.causes.reduce((n, c) => n + c.runs, 0);
    return html`<section class="needs" aria-labelledby="needs" @keydown=${(e: KeyboardEvent) => this.escape(e)}>
      <h2 id="needs">Needs you <span class="count">${all}</span></h2>
      ${this.causes.map((cause) => html`${this.drawCause(cause)}${this.bulk && same(this.bulk.cause, cause) ? this.drawBulk(this.bulk) : nothing}`)}
      ${this.bulk && !this.causes.some((cause) => same(this.bulk!.cause, cause)) ? this.drawBulk(this.bulk) : nothing}
    </section>`;
  }

  private drawCause(cause: OpenCause): TemplateResult {
    const name = cause.provider ? `${providerName(cause.provider)} · ` : '';
    const busy = this.bulk?.state === 'looking' || this.bulk?.state === 'going';
    return html`<article class="cause" aria-label=${cause.title}>
      <div class="what">
        <h3><span class="square attention" aria-hidden="true"></span>${cause.title || 'Stopped for you'}</h3>
        <p class="meta">${name}${runsOf(cause.runs)} · for ${lasting(Date.now() - Date.parse(cause.since))}</p>
      </div>
      <div class="buttons">
        ${cause.offers.map((offer, i) => html`<button type="button" class=${offer.action === 'stop' ? 'last' : i === 0 ? 'primary' : ''} ?disabled=${busy}
          @click=${(e: Event) => void this.preview(cause, offer, e.currentTarget)}>${labelOf(offer, cause.runs)}</button>`)}
      </div>
    </article>`;
  }

  private drawBulk(b: Bulk): TemplateResult {
    const would = b.results.filter((r) => r.state === 'would');
    const left = b.results.filter((r) => r.state === 'none');
    const failed = b.results.filter((r) => r.state === 'failed');
    const label = shortly(b.offer.label, b.offer.model);
    switch (b.state) {
      case 'looking':
        return html`<div class="bulk" role="status">Looking at what would be done…</div>`;
      case 'preview':
        return html`<div class="bulk" role="group" aria-label="Preview">
          <p><strong>${label}</strong>: ${runsOf(would.length)} will ${b.offer.action === 'stop' ? 'end' : 'go on'}.${left.length ? html` ${runsOf(left.length)} cannot be answered so, and stay as they are.` : nothing}</p>
          <ul class="some">${would.slice(0, 5).map((r) => html`<li>${r.title || r.run}</li>`)}${would.length > 5 ? html`<li class="meta">and ${would.length - 5} more</li>` : nothing}</ul>
          <div class="buttons">
            ${would.length ? html`<button type="button" class="primary" @click=${() => void this.answer()}>${label}: ${runsOf(would.length)}</button>` : nothing}
            <button type="button" class="last" @click=${() => void this.close()}>Cancel</button>
          </div>
        </div>`;
      case 'going':
        return html`<div class="bulk" role="status"><p>${label}: ${b.done} of ${would.length || b.results.length}…</p>
          <progress max=${Math.max(1, would.length || b.results.length)} .value=${b.done} aria-label="Answered"></progress></div>`;
      case 'over': {
        const sent = b.results.filter((r) => r.state === 'sent').length;
        return html`<div class="bulk" role="status">
          <p><span class=${b.trouble || failed.length ? 'square bad' : 'dot good'} aria-hidden="true"></span>
            ${label}: ${runsOf(sent)} answered${failed.length ? `, ${failed.length} not` : ''}.${b.trouble ? ` ${b.trouble} Nothing is lost: say it again.` : ''}</p>
          ${failed.length ? html`<ul class="some">${failed.slice(0, 5).map((r) => html`<li>${r.title || r.run}: ${r.detail}</li>`)}</ul>` : nothing}
          <div class="buttons"><button type="button" class="last" @click=${() => void this.close()}>Close</button></div>
        </div>`;
      }
    }
  }
}
customElements.define('mulligan-needs', Needs);

function same(a: OpenCause, b: OpenCause): boolean {
  return a.kind === b.kind && a.provider === b.provider;
}

function runsOf(n: number): string {
  return n === 1 ? '1 run' : `${n} runs`;
}

/** "Retry all", "Switch 3 of 12 to gpt-5.2"; for another label "Let the agent adapt · all". */
function labelOf(offer: Offer, runs: number): string {
  const label = shortly(offer.label, offer.model);
  if (runs === 1) {
    return label;
  }
  const many = offer.runs === runs ? 'all' : `${offer.runs} of ${runs}`;
  const [verb, rest] = /^(Retry|Switch|Continue|Stop)(?= |$)(.*)$/.exec(label)?.slice(1) ?? [];
  return verb ? `${verb} ${many}${rest}` : `${label} · ${many}`;
}
