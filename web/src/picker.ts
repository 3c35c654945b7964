import { entryOf, providerName, type Model } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';

import type { Conversation } from './conversation.js';
import { rememberAutoRecover, rememberedAutoRecover } from './settings.js';
import { modelAmong } from './words.js';

/** Chooses the model for the next message, in the order of the gateway's list. `chosen` is the conversation's own. */
export function modelPicker(models: Model[], chosen: string | undefined, none: boolean, choose: (model: string) => void): TemplateResult {
  const names = models.map((m) => m.name);
  const usual = models.find((m) => m.default);
  const among = (m: Model): string => modelAmong(m.name, names) + (!m.ready ? ` (no ${providerName(entryOf(m.name))} key)` : m.cooling ? ' (cooling down)' : '');
  return html`
    <label class="pick"><span class="sr">Model</span>
      <select aria-label="Model" @change=${(e: Event) => choose((e.target as HTMLSelectElement).value)}>
        ${usual ? nothing : html`<option value="" .selected=${live(!chosen)}>${none ? 'No model' : 'Default model'}</option>`}
        ${models.map((m) => html`
          <option value=${m.name} .selected=${live(chosen ? chosen === m.name : m === usual)} ?disabled=${!m.ready && m !== usual}>${among(m)}</option>`)}
        ${chosen && !names.includes(chosen) ? html`<option value=${chosen} .selected=${true}>${modelAmong(chosen, names)}</option>` : nothing}
      </select>
    </label>`;
}

/** Whether there is no model that can be asked, before anything is sent; a model that is not listed may still exist. */
export function lacksKey(models: Model[], chosen: string | undefined, none: boolean): boolean {
  const asked = chosen || models.find((m) => m.default)?.name;
  const model = models.find((m) => m.name === asked);
  return model ? !model.ready : !chosen && (none || models.some((m) => !m.ready) && !models.some((m) => m.ready));
}

/** The auto-recover setting for a conversation's next messages, and whether it applies to new conversations. */
export function autoSwitch(c: Conversation, changed: () => void): TemplateResult {
  const on = c.autoRecover ?? rememberedAutoRecover() ?? false;
  const remembered = rememberedAutoRecover() === on;
  const set = (): void => {
    if (rememberedAutoRecover() !== undefined) {
      rememberAutoRecover(!on);
    }
    void c.setAutoRecover(!on);
  };
  const remember = (e: Event): void => {
    rememberAutoRecover((e.target as HTMLInputElement).checked ? on : undefined);
    changed();
  };
  return html`
    <span class="auto">
      <button type="button" class="switch" role="switch" aria-checked=${on} aria-label="Auto-recover" title="When a model fails: recover automatically, or ask you" @click=${set}>
        <span class="track" aria-hidden="true"></span><span>Auto-recover</span>
      </button>
      <label class="remember"><input type="checkbox" .checked=${remembered} @change=${remember}>Remember for new conversations</label>
    </span>`;
}
