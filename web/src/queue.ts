import { html, nothing, type TemplateResult } from 'lit';

import type { Conversation } from './conversation.js';

/** The messages that wait for the current answer. */
export function queue(c: Conversation, alive: boolean): TemplateResult | typeof nothing {
  if (c.queued.length === 0) {
    return nothing;
  }
  return html`
    <ul class="queue" aria-label="Messages that wait">
      ${c.queued.map((text, i) => html`
        <li>
          <span class="waits" dir="auto">${text}</span>
          ${i === 0 ? html`<button type="button" class="link" title=${alive ? 'Stop this answer and send it now' : 'Send it now'} @click=${() => void c.interrupt()}>${alive ? 'Interrupt' : 'Send now'}</button>` : nothing}
          <button type="button" class="link" @click=${() => c.unqueue(i)}>Remove</button>
        </li>`)}
    </ul>`;
}
