import { modelName, type Change, type Client, type Judged, type Rescue, type WhatIf } from '@mulligan-run/client';
import { html, LitElement, nothing, type TemplateResult } from 'lit';

import { explain } from './conversation.js';
import { took } from './words.js';

/** "What if?": how the failures of a run would have been decided under other settings. */
class WhatIfForm extends LitElement {
  static override properties = { run: { attribute: false }, change: { state: true }, found: { state: true }, trouble: { state: true } };
  declare client: Client;
  declare run: Rescue;
  declare change: Change;
  declare found: WhatIf | undefined;
  declare trouble: string;
  private asked = 0;

  constructor() {
    super();
    this.change = {};
    this.trouble = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  /** Sets a part of the change, and fetches the result; without any change there is none. */
  private async set(part: Change, drop: keyof Change): Promise<void> {
    const { [drop]: _, ...rest } = this.change;
    this.change = { ...rest, ...part };
    const asked = ++this.asked;
    this.trouble = '';
    if (Object.keys(this.change).length === 0) {
      this.found = undefined;
      return;
    }
    try {
      const found = await this.client.whatIf(this.run.run, this.change, true);
      if (asked === this.asked) {
        this.found = found;
      }
    } catch (error) {
      if (asked === this.asked) {
        this.found = undefined;
        this.trouble = explain(error);
      }
    }
  }

  protected override render(): TemplateResult {
    const voters = [...new Set(this.run.spans.flatMap((s) => s.failure?.votes?.map((v) => v.plugin) ?? []))];
    const value = (e: Event): string => (e.target as HTMLInputElement | HTMLSelectElement).value;
    return html`<section class="whatif" aria-labelledby="whatif">
      <h2 id="whatif">What if…</h2>
      <form @submit=${(e: Event) => e.preventDefault()}>
        <label>it recovered
          <select @change=${(e: Event) => void this.set(value(e) ? { autoRecover: value(e) === 'on' } : {}, 'autoRecover')}>
            <option value="">as it did (${this.run.autoRecover ? 'automatically' : 'asking first'})</option><option value="on">automatically</option><option value="off">asking first</option>
          </select></label>
        <label>retries of a call
          <input type="number" min="0" max="1000" inputmode="numeric" placeholder="as it was" @change=${(e: Event) => {
            const n = Math.trunc(Number(value(e)));
            void this.set(value(e) !== '' && n >= 0 && n <= 1000 ? { maxRetries: n } : {}, 'maxRetries');
          }}></label>
        ${voters.length ? html`<label>the vote that counts
          <select @change=${(e: Event) => void this.set(value(e) ? { plugin: value(e) } : {}, 'plugin')}>
            <option value="">as it was</option>${voters.map((name) => html`<option value=${name}>${name} alone</option>`)}
          </select></label>` : nothing}
      </form>
      <div role="status">${this.trouble ? html`<p class="bad">${this.trouble}</p>` : this.found ? this.told(this.found) : nothing}</div>
      ${this.found?.failures.length ? html`<ol>${this.found.failures.filter((j) => j.different).map((j) => this.judged(j))}</ol>
        <p class="meta">Each failure is judged for itself, as it happened: what would have come after another decision, nobody knows.</p>` : nothing}
    </section>`;
  }

  private told(found: WhatIf): TemplateResult {
    const all = found.failures.length + (found.failuresLeftOut ?? 0);
    const of = all === 1 ? 'The failure' : found.different === all ? `All ${all} failures` : `${found.different} of ${all} failures`;
    return html`<p>${found.different ? `${of} would have gone otherwise:` : all ? 'Nothing would have gone otherwise.' : 'No failure was decided yet.'}</p>`;
  }

  private judged(j: Judged): TemplateResult {
    return html`<li>
      <p class="meta">After ${took(j.at)}: ${j.title}, ${modelName(j.model)}</p>
      <dl><div><dt>Then</dt><dd>${j.then.text}</dd></div><div><dt>Supposed</dt><dd>${j.now.text}</dd></div></dl>
    </li>`;
  }
}
customElements.define('mulligan-what-if', WhatIfForm);
