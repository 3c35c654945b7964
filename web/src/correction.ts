import { Problem, type Client, type Failure, type Kind, type KindListed, type Lesson } from '@mulligan-run/client';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';

import { explain } from './conversation.js';

/** Lets a person say what a failure really is; the next such failure gets that kind. */
export class Correction extends LitElement {
  static override properties = {
    client: { attribute: false }, run: { attribute: false }, failure: { attribute: false },
    kinds: { state: true }, open: { state: true }, chosen: { state: true }, asking: { state: true }, lesson: { state: true }, trouble: { state: true },
  };
  declare client: Client;
  declare run: string;
  declare failure: Failure;
  /** The kinds to choose from; empty if the gateway takes no corrections, or was not asked yet. */
  declare kinds: KindListed[];
  declare open: boolean;
  declare chosen: Kind | '';
  declare asking: boolean;
  declare lesson: Lesson | undefined;
  declare trouble: string;
  private of = '';

  constructor() {
    super();
    this.kinds = [];
    this.reset();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.client.kinds().then((kinds) => { this.kinds = kinds; }, () => undefined); // after an error, it takes no corrections
  }

  protected override willUpdate(_: PropertyValues<this>): void {
    const of = `${this.run} ${this.failure.kind} ${this.failure.requestId ?? ''} ${this.failure.detail ?? ''}`;
    if (of !== this.of) {
      this.of = of;
      this.reset();
    }
  }

  private reset(): void {
    this.open = false;
    this.chosen = '';
    this.asking = false;
    this.lesson = undefined;
    this.trouble = '';
  }

  protected override render(): TemplateResult | typeof nothing {
    const f = this.failure;
    if (this.kinds.length === 0 || f.origin !== 'model' || f.timer) { // Mulligan saw these itself, so nobody knows better
      return nothing;
    }
    if (this.lesson) {
      return told(this.lesson);
    }
    return html`
      <p><button class="link wrong" aria-expanded=${this.open} @click=${() => { this.open = !this.open; }}>Wrong? Call it…</button></p>
      ${this.open ? this.form(f) : nothing}`;
  }

  private form(f: Failure): TemplateResult {
    const repeated = !f.retryable && this.kinds.some((k) => k.kind === this.chosen && k.retryable);
    return html`
      <form class="correction" @submit=${(e: Event) => { e.preventDefault(); void this.learn(); }}>
        <label>Such failures are
          <select @change=${(e: Event) => { this.chosen = (e.target as HTMLSelectElement).value as Kind | ''; }}>
            <option value="">Choose…</option>
            ${this.kinds.filter((k) => k.kind !== f.kind).map((k) => html`<option value=${k.kind} ?selected=${k.kind === this.chosen}>${k.kind.replaceAll('_', ' ')}</option>`)}
          </select>
        </label>
        ${repeated ? html`<p class="warning"><span class="square warn" aria-hidden="true"></span>The same request is then sent again, which may cost money or count against your account.</p>` : nothing}
        <button class="link" ?disabled=${!this.chosen || this.asking}>Use this kind from now on</button>
        ${this.trouble ? html`<p class="trouble" role="alert">${this.trouble}</p>` : nothing}
      </form>`;
  }

  private async learn(): Promise<void> {
    if (!this.chosen || this.asking) {
      return;
    }
    this.asking = true;
    this.trouble = '';
    try {
      this.lesson = await this.client.learn(this.run, { kind: this.chosen, was: this.failure.kind });
    } catch (error) {
      this.trouble = error instanceof Problem && error.status === 409 ? error.message : explain(error);
    }
    this.asking = false;
  }
}

function told(l: Lesson): TemplateResult {
  return html`
    <div class="learned" role="status">
      <p>Failures like this are ${l.after.replaceAll('_', ' ')} ${l.row ? 'from the next one on. This one stays as it was.' : 'already.'}</p>
      ${l.warning ? html`<p class="warning"><span class="square warn" aria-hidden="true"></span>${l.warning}</p>` : nothing}
      ${l.row ? html`<pre class="raw" tabindex="0">${l.row}</pre><p class="meta">Written to ${l.file}; delete the row to undo it.</p>` : nothing}
    </div>`;
}

customElements.define('mulligan-correction', Correction);
