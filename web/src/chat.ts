import { entryOf, seen, spoken, type Button, type Failure, type LabFault, type Model, type Seen } from '@mulligan-run/client';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';

import { card, failedCard, line, type Actions } from './below.js';
import { addPictures, composer } from './composer.js';
import './correction.js';
import { picturesOf, type Conversation } from './conversation.js';
import { copyText } from './copy.js';
import type { Followed } from './followed.js';
import { labWelcome } from './lab.js';
import { lacksKey } from './picker.js';
import { filesOf } from './pictures.js';
import { Reading } from './reading.js';
import { rememberLocal } from './settings.js';
import './setup.js';
import { timeline } from './timeline.js';
import { transcript, type Doings } from './transcript.js';
import { details } from './words.js';

/** How much of an answer is read to people who cannot see it, in characters. */
const MAX_SAID = 2000;

/** A conversation, with a composer for the next message. */
export class Chat extends LitElement {
  static override properties = { conversation: { attribute: false }, models: { attribute: false }, modelless: { attribute: false }, away: { attribute: false }, opened: { state: true } };
  declare conversation: Conversation;
  declare models: Model[];
  /** There is no model that can be asked. */
  declare modelless: boolean;
  /** The gateway does not answer; another part of the page says so. */
  declare away: boolean;
  declare opened: string;
  private ticking: ReturnType<typeof setInterval> | undefined;
  private readonly reading = new Reading();
  private shownCard = '';
  /** A key was just saved, and the result is still shown. */
  private settingUp = false;
  private timelineOf: Followed | undefined;
  /** Keeps what is being read in place while messages above and below it grow. */
  private readonly sized = new ResizeObserver(() => this.settle());
  /** The text and width for which the composer's height was measured. */
  private measured = '';
  /** The run whose end will be announced. */
  private awaited: Followed | undefined;
  private announced = '';

  constructor() {
    super();
    this.models = [];
    this.modelless = false;
    this.away = false;
    this.opened = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', this.key);
    this.addEventListener('dragover', (e) => e.preventDefault());
    this.addEventListener('drop', (e) => {
      e.preventDefault(); // otherwise the browser opens the file
      void addPictures(this.conversation, filesOf(e.dataTransfer), () => this.requestUpdate());
    });
    this.ticking = setInterval(() => this.tick(), 250);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('keydown', this.key);
    clearInterval(this.ticking);
    this.sized.disconnect();
  }

  protected override firstUpdated(): void {
    const column = this.querySelector('.scroll > .column');
    if (column) {
      this.sized.observe(column);
    }
  }

  /** Puts the focus into the composer. */
  focusComposer(): void {
    this.querySelector('textarea')?.focus();
  }

  private tick(): void {
    const last = this.conversation.last;
    if (last && (last.alive || last.view.suggestion)) {
      this.requestUpdate();
    }
  }

  private get seen(): Seen | undefined {
    const last = this.conversation.last;
    return last && last.view.seq > 0 ? seen(last.view, this.conversation.client.now()) : undefined;
  }

  private readonly key = (e: KeyboardEvent): void => {
    if (e.defaultPrevented || document.querySelector('dialog[open]')) {
      return;
    }
    if (e.key === 'Escape' && !e.isComposing && this.conversation.last?.alive) {
      e.preventDefault();
      void this.conversation.stop();
    }
    const digit = /^Digit([1-4])$/.exec(e.code)?.[1];
    if (digit && e.altKey && !e.ctrlKey && !e.metaKey) {
      const button = this.querySelector<HTMLElement>(`[aria-keyshortcuts="Alt+${digit}"]`);
      if (button) {
        e.preventDefault();
        button.click();
      }
    }
  };

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('conversation')) {
      this.querySelector('.scroll')?.scrollTo(0, 0);
      this.settingUp = false;
      this.reading.toEnd();
      this.awaited = undefined;
      this.announced = '';
    }
    this.hear();
    const id = this.conversation.last?.view.suggestion?.id ?? '';
    if (id !== this.shownCard) {
      this.shownCard = id;
      this.opened = '';
    }
  }

  /** Waits for the end of the current run and announces its answer once; screen readers hear nothing in between. */
  private hear(): void {
    const last = this.conversation.last;
    if (last?.alive && last.view.seq > 0) {
      this.awaited = last;
      this.announced = '';
    } else if (last && last === this.awaited && last.view.status === 'completed') {
      this.awaited = undefined;
      const text = last.view.answer.text;
      this.announced = text.length > MAX_SAID ? `${text.slice(0, MAX_SAID)}… The rest is in the conversation.` : text;
    }
  }

  protected override updated(): void {
    const area = this.querySelector('textarea');
    const seen = `${innerWidth} ${this.conversation.draft || (area?.placeholder ?? '')}`;
    if (area && seen !== this.measured) { // as high as its text, however its lines are wrapped
      this.measured = seen;
      area.style.height = 'auto';
      area.style.height = `${area.scrollHeight}px`;
    }
    this.settle();
  }

  private get empty(): boolean {
    return this.conversation.runs.length === 0 && !this.conversation.sending;
  }

  private settle(): void {
    const scroller = this.querySelector('.scroll');
    if (scroller && !this.empty && this.reading.settle(scroller)) {
      this.requestUpdate();
    }
  }

  protected override render(): TemplateResult {
    const c = this.conversation;
    const empty = this.empty;
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label="Conversation" @scroll=${this.scrolled} @wheel=${this.reading.moved} @pointerdown=${this.reading.moved} @keydown=${this.reading.moved}>
        <div class="column">
          ${c.older ? html`<button class="older" @click=${() => this.older()}>Show earlier messages</button>` : nothing}
          ${c.loading && empty ? html`<p class="note">Loading…</p>` : nothing}
          ${!c.loading && empty ? this.welcome() : nothing}
          ${c.runs.map((run, i) => this.run(run, i === c.runs.length - 1))}
          ${c.sending ? html`<div class="user"><div class="bubble">${c.sending}</div></div>` : nothing}
        </div>
      </div>
      ${this.reading.follows || empty ? nothing : html`<button class="latest" @click=${this.latest}>Jump to latest</button>`}
      <p class="sr announced" aria-live="polite">${this.announced}</p>
      ${this.composer()}
      ${this.timelineDialog()}`;
  }

  private welcome(): TemplateResult {
    const c = this.conversation;
    const setsUp = this.settingUp || lacksKey(this.models, c.model, this.modelless);
    return html`
      <div class="welcome">
        ${c.lab ? labWelcome(c.lab, (fault) => void this.send(fault)) : html`
          <h2>What are you working on?</h2>
          <p>When a model fails, you see why and choose what happens next. Finished work is never lost.</p>`}
        ${setsUp ? html`<mulligan-setup class="nokey" role="region" aria-label="Who answers" .client=${c.client} ?playing=${c.lab !== undefined} @keys=${() => { this.settingUp = true; }}
          @local=${(e: CustomEvent<string>) => { rememberLocal(e.detail); void c.setModel(e.detail); this.focusComposer(); }}></mulligan-setup>` : nothing}
      </div>`;
  }

  private run(run: Followed, last: boolean): TemplateResult {
    const v = run.view;
    const c = this.conversation;
    const usual = this.models.find((m) => m.default && !m.cooling)?.name;
    const doings: Doings = { run: run.id, models: v.models, model: c.model ?? usual ?? '', choose: (model) => void c.setModel(model), newest: last && !run.alive,
      edit: c.only || run.view.stopReason === undefined && !run.view.suggestion ? undefined : () => void this.editFrom(run) };
    return html`
      <article class="run" data-status=${v.status} data-run=${run.id}>
        ${transcript(v.entries, doings, v.attempt)}
        ${last ? this.below(run) : this.closed(run)}
        ${v.stopReason || v.suggestion ? html`
          <div class="foot">
            <button class="link quiet" @click=${() => this.showTimeline(run)}>Timeline</button>
            ${last && v.stopReason ? html`<button class="link quiet" title="Send the same message once more: the new answer comes below, and this one stays" @click=${() => void c.send(v.prompt, picturesOf(run))}>Regenerate</button>` : nothing}
          </div>` : nothing}
      </article>`;
  }

  /** What remains visible of an older run's recovery. */
  private closed(run: Followed): TemplateResult | typeof nothing {
    const v = run.view;
    const s = seen(v, this.conversation.client.now());
    if (v.status === 'cancelled') {
      return html`<p class="note"><span class="square quiet" aria-hidden="true"></span>${spoken(s)}</p>`;
    }
    return v.status === 'failed' ? html`<p class="note"><span class="square quiet" aria-hidden="true"></span>${v.error?.title ?? 'Failed'}</p>` : nothing;
  }

  private below(run: Followed): TemplateResult {
    const v = run.view;
    const c = this.conversation;
    const s = this.seen;
    if (!s) {
      return html``;
    }
    const actions = this.actions(s);
    const state = { answering: c.answering !== '' && c.answering === s.asks, opened: this.opened, correction: (f: Failure) => html`<mulligan-correction .client=${c.client} .run=${run.id} .failure=${f}></mulligan-correction>` };
    if (run.alive && (this.away || !run.connected)) { // what it does meanwhile is unknown here
      return html`<p class="note reconnecting" role="status"><span class="ring" aria-hidden="true"></span>Reconnecting…</p>`;
    }
    return html`
      ${line(s, actions)}
      ${s.card && s.suggestion ? card(s, s.card, s.suggestion, v, state, actions, this.models.find((m) => entryOf(m.name) === entryOf(s.suggestion?.error.model ?? ''))?.keyEnv) : nothing}
      ${s.card && s.state === 'failed' ? failedCard(s.card, v.error, state, actions) : nothing}`;
  }

  private actions(s: Seen): Actions {
    const c = this.conversation;
    return {
      answer: (b) => void c.answer(s.asks ?? '', { action: b.id }),
      client: (b, f) => this.clientAction(b, f),
      choose: (model) => {
        if (model) {
          void this.choose(s, model);
        }
      },
      stop: () => void c.stop(),
      copy: (text) => void this.copy(text),
    };
  }

  private async choose(s: Seen, model: string): Promise<void> {
    const offered = s.actions.find((b) => b.kind === 'switch_model');
    if (offered) {
      await this.conversation.answer(s.asks ?? '', { action: offered.id, model });
      return;
    }
    await this.conversation.setModel(model); // it applies to a new message
    this.edit();
  }

  private clientAction(b: Button, f: Failure): void {
    if (b.kind === 'edit') {
      this.edit();
    } else if (b.kind === 'copy_details') {
      void this.copy(details(f));
    } else {
      this.opened = this.opened === b.kind ? '' : b.kind;
    }
  }

  /** Puts the last message into the composer to be edited. */
  private edit(): void {
    if (this.conversation.last) {
      this.conversation.again(this.conversation.last);
    }
    this.typeOn();
  }

  private async editFrom(run: Followed): Promise<void> {
    if (await this.conversation.edit(run)) {
      this.typeOn();
    }
  }

  /** Puts the cursor at the end of the composer. */
  private typeOn(): void {
    this.requestUpdate();
    void this.updateComplete.then(() => {
      const area = this.querySelector('textarea');
      area?.focus();
      area?.setSelectionRange(area.value.length, area.value.length);
    });
  }

  private async copy(text: string): Promise<void> {
    await copyText(text);
    this.opened = 'copied';
  }

  private composer(): TemplateResult {
    const c = this.conversation;
    return composer(c, {
      models: this.models, modelless: this.modelless, away: this.away, changed: () => this.requestUpdate(), send: () => void this.send(),
      cancelEdit: () => { c.leaveEdit(); this.typeOn(); },
    });
  }

  /** Sends what was typed; to watch a fault it sends a default question if nothing was typed. */
  async send(fault?: LabFault): Promise<void> {
    const c = this.conversation;
    const { editing, pictures } = c;
    const text = c.draft.trim() || (fault?.prompt ?? '');
    const waits = c.last?.alive && !fault && !editing;
    if (c.sending || !text && pictures.length === 0 || waits && pictures.length > 0) {
      return;
    }
    if (editing) {
      c.leaveEdit();
      this.dispatchEvent(new CustomEvent('branch', { bubbles: true, detail: { text, pictures, beginning: editing.beginning } }));
      return;
    }
    this.settingUp = false;
    this.reading.toEnd();
    if (waits) {
      c.enqueue(text);
      return;
    }
    c.pictures = [];
    this.dispatchEvent(new CustomEvent('sent', { bubbles: true }));
    await c.send(text, pictures, fault?.name);
  }

  /** Loads older messages above what is being read, and keeps that in sight. */
  private async older(): Promise<void> {
    this.reading.keep(this.querySelector('.scroll'));
    await this.conversation.loadOlder();
  }

  private readonly scrolled = (e: Event): void => {
    if (this.reading.scrolled(e.target as HTMLElement)) {
      this.requestUpdate();
    }
  };

  private readonly latest = (): void => {
    this.reading.toEnd();
    this.requestUpdate();
    this.focusComposer();
  };

  private showTimeline(run: Followed): void {
    this.timelineOf = run;
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector<HTMLDialogElement>('dialog.timeline')?.showModal());
  }

  private timelineDialog(): TemplateResult {
    const run = this.timelineOf;
    return html`
      <dialog class="timeline" aria-labelledby="timeline-title" @close=${() => { this.timelineOf = undefined; this.requestUpdate(); }}>
        <header><h2 id="timeline-title">Timeline</h2><form method="dialog"><button class="icon" aria-label="Close">×</button></form></header>
        <div class="body">${run ? timeline(run.view, this.conversation.client.now()) : nothing}</div>
      </dialog>`;
  }
}

customElements.define('mulligan-chat', Chat);
