import { modelName, type Model } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';

import type { Conversation } from './conversation.js';
import { autoSwitch, modelPicker } from './picker.js';
import { attached, filesOf, take } from './pictures.js';
import { queue } from './queue.js';
import { sentenceOf } from './words.js';

/** On touch devices Enter begins a new line, and a button sends. */
const byThumb = matchMedia('(hover: none) and (pointer: coarse)');

/** What the composer gets, and what it can do. */
export interface Composing {
  models: Model[];
  /** There is no model that can be asked. */
  modelless: boolean;
  /** The gateway does not answer; another part of the page says so. */
  away: boolean;
  changed: () => void;
  send: () => void;
  cancelEdit: () => void;
}

/** The composer for the next message. */
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
  const add = (files: File[]): void => void addPictures(c, files, doing.changed);
  const pasted = (e: ClipboardEvent): void => {
    const files = filesOf(e.clipboardData);
    if (files.length > 0) {
      e.preventDefault();
      add(files);
    }
  };
  const chosen = (e: Event): void => {
    const input = e.target as HTMLInputElement;
    add([...input.files ?? []]);
    input.value = ''; // otherwise the same file cannot be chosen again
  };
  const says = c.editing ? 'Edit the message' : alive ? 'Next message: it waits for this answer' : 'Write a message';
  return html`
    <form class="composer" @submit=${(e: Event) => { e.preventDefault(); doing.send(); }}>
      <div class="column">
        ${c.trouble && !(doing.away && c.unreachable) ? html`<p class="trouble" role="alert"><span class="square bad" aria-hidden="true"></span><span>${sentenceOf(c.trouble)}</span></p>` : nothing}
        ${c.editing ? html`
          <p class="editing" role="status"><span>Goes on from there in a new conversation; this one stays.</span>
            <button type="button" class="link" @click=${doing.cancelEdit}>Cancel</button></p>` : queue(c, alive)}
        ${remark(c, doing, alive)}
        <div class="box">
          ${attached(c.pictures, (i) => { c.pictures = c.pictures.filter((_, at) => at !== i); doing.changed(); })}
          <label class="sr" for="message">Message</label>
          <textarea id="message" rows="1" dir="auto" placeholder=${says} enterkeyhint=${byThumb.matches ? 'enter' : 'send'} maxlength="1000000"
            .value=${c.draft} @input=${type} @keydown=${key} @paste=${pasted}></textarea>
          <div class="tools">
            <label class="attach" title="Add pictures: choose, paste or drop them"><input class="sr" type="file" accept="image/*" multiple aria-label="Add pictures" @change=${chosen}><span class="plus" aria-hidden="true"></span></label>
            ${c.lab?.model ? html`<span class="labmodel">${modelName(c.lab.model)}, on this computer</span>` : modelPicker(doing.models, c.model, doing.modelless, (model) => void c.setModel(model))}
            ${autoSwitch(c, doing.changed)}
            <span class="grow"></span>
            ${alive ? html`<button type="button" class="stop" aria-label="Stop" title="Stop (Esc)" @click=${() => void c.stop()}><span class="stopmark" aria-hidden="true"></span><span class="wide">Stop</span></button>` : nothing}
            <button type="submit" class="send" ?disabled=${c.draft.trim() === '' && c.pictures.length === 0 || c.sending !== '' || waitsFor(c, alive)}>Send</button>
          </div>
        </div>
      </div>
    </form>`;
}

/** Adds files to the message in the composer. */
export async function addPictures(c: Conversation, files: File[], changed: () => void): Promise<void> {
  const { pictures, trouble } = await take(files, c.pictures);
  c.pictures = pictures;
  c.trouble = trouble;
  changed();
}

/** Messages with pictures are not queued, because they would be lost with the page. */
function waitsFor(c: Conversation, alive: boolean): boolean {
  return alive && !c.editing && c.pictures.length > 0;
}

/** What to know about the pictures before they are sent. */
function remark(c: Conversation, doing: Composing, alive: boolean): TemplateResult | typeof nothing {
  const model = doing.models.find((m) => (c.model ? m.name === c.model : m.default));
  if (c.pictures.length === 0) {
    return nothing;
  }
  const words = waitsFor(c, alive) ? 'A message with pictures can be sent once this answer is there.' :
    model?.noImages ? `${modelName(model.name)} takes no pictures: it is only told that there were some.` : '';
  return words ? html`<p class="editing" role="status">${words}</p>` : nothing;
}
