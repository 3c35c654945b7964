import type { Lab, LabFault } from '@mulligan-run/client';
import { html, LitElement, nothing, type TemplateResult } from 'lit';

import type { Conversation } from './conversation.js';
import { timeline } from './timeline.js';

/** How many faults an empty conversation offers. */
const CHIPS = 4;

/** Whether a conversation's messages go to the fault lab: its runs did, or nothing was sent and no other model can be asked. */
export function playsIn(c: Conversation, lab: Lab | undefined, wanted: boolean): boolean {
  if (!lab?.model || lab.faults.length === 0) {
    return false;
  }
  const last = c.last?.view;
  return last?.chosenModel ? last.chosenModel === lab.model : c.lab !== undefined || (c.isNew && wanted);
}

/** What an empty conversation with the fault lab shows. */
export function labWelcome(lab: Lab, watch: (f: LabFault) => void): TemplateResult {
  return html`
      <h2>See a model fail, and the run recover</h2>
      <p>No key is needed: a model on this computer fails as you say.</p>
      <div class="chips">${lab.faults.slice(0, CHIPS).map((f) => html`<button class="chip" title=${f.does} @click=${() => watch(f)}>${f.title}</button>`)}</div>`;
}

/** The faults beside a conversation, and the result of the last one. */
export class LabPanel extends LitElement {
  static override properties = { conversation: { attribute: false }, lab: { attribute: false } };
  declare conversation: Conversation;
  declare lab: Lab;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const run = this.conversation.last;
    return html`
      <h2>Fault lab</h2>
      <p class="meta">Each button sends a message, and the model fails in that way. ${this.conversation.autoRecover ? 'With auto-recover on you only watch.' : 'With auto-recover off you are asked what to do.'}</p>
      <ul class="faults ${run ? 'brief' : ''}">${this.lab.faults.map((f) => this.fault(f))}</ul>
      ${run && run.view.seq > 0 ? html`<div class="saw"><h3>This run</h3>${timeline(run.view, this.conversation.client.now(), true)}</div>` : nothing}`;
  }

  private watch(f: LabFault): void {
    this.dispatchEvent(new CustomEvent('watch', { detail: f }));
  }

  private fault(f: LabFault): TemplateResult {
    return html`<li><button title=${f.does} ?disabled=${this.conversation.sending !== ''} @click=${() => this.watch(f)}><span class="what">${f.title}</span><span class="meta">${f.does}</span></button></li>`;
  }
}

customElements.define('mulligan-lab', LabPanel);
