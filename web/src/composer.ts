import { modelName, type Model } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';

import type { Conversation } from './conversation.js';
import { autoSwitch, modelPicker } from './picker.js';
import { queue } from './queue.js';
import { sentenceOf } from './words.js';

/** Where people type with their thumbs, Enter makes a line, and a button sends. */
const byThumb = matchMedia('(hover: none) and (pointer: coarse)');

/** What the composer is told, and what it does. */
export interface Composing {
  models: Model[];
  /** There is no model that could be asked. */
  modelless: boolean;
  /** The gateway does not answer, as is said elsewhere. */
  away: boolean;
  changed: () => void;
  send: () => void;
  cancelEdit: () => void;
}

/** Where the next message is typed. */
export function composer(c: Conversation, doing: Composing): TemplateResult {
  const alive = c.last?.alive ?? false;
  const type = (e: Event): void => {
    c.draft = (e.target as HTMLTextAreaElement).value;
    doing.changed();
  };
  const key = (e: KeyboardEvent): void => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing && !byThumb.matches) {
      e.preventDefault();
      doing.send();
    } else if (e.key === 'Escape' && c.editing) {
      e.preventDefault();
      doing.cancelEdit();
    }
  };
  const says = c.editing ? 'Edit the message' : alive ? 'Write the next message: it waits for this answer' : 'Write a message';
  return html`
    <form class="composer" @submit=${(e: Event) => { e.preventDefault(); doing.send(); }}>
      <div class="column">
        ${c.trouble && !(doing.away && c.unreachable) ? html`<p class="trouble" role="alert"><span class="square bad" aria-hidden="true"></span><span>${sentenceOf(c.trouble)}</span></p>` : nothing}
        ${c.editing ? html`
          <p class="editing" role="status"><span>Goes on from there in a new conversation; this one stays.</span>
            <button type="button" class="link" @click=${doing.cancelEdit}>Cancel</button></p>` : queue(c, alive)}
        <div class="box">
          <label class="sr" for="message">Message</label>
          <textarea id="message" rows="1" dir="auto" placeholder=${says} enterkeyhint=${byThumb.matches ? 'enter' : 'send'} maxlength="1000000"
            .value=${c.draft} @input=${type} @keydown=${key}></textarea>
          <div class="tools">
            ${c.lab?.model ? html`<span class="labmodel">${modelName(c.lab.model)}, on this computer</span>` : modelPicker(doing.models, c.model, doing.modelless, (model) => void c.setModel(model))}
            ${autoSwitch(c, doing.changed)}
            <span class="grow"></span>
            ${alive ? html`<button type="button" class="stop" aria-label="Stop" title="Stop (Esc)" @click=${() => void c.stop()}><span class="stopmark" aria-hidden="true"></span><span class="wide">Stop</span></button>` : nothing}
            <button type="submit" class="send" ?disabled=${c.draft.trim() === '' || c.sending !== ''}>Send</button>
          </div>
        </div>
      </div>
    </form>`;
}
