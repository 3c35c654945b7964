import { entryOf, providerName, situation, type Button, type Failure, type Model, type Situation } from '@mulligan-run/client';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';

import { card, failedCard, line, type Actions } from './below.js';
import type { Conversation, Followed } from './conversation.js';
import { rememberAutoRecover, rememberedAutoRecover } from './settings.js';
import { timeline } from './timeline.js';
import { transcript, type Doings } from './transcript.js';
import { details, modelAmong, sentenceOf } from './words.js';

/** So near to the end a person is reading what comes in, in pixels. */
const NEAR = 120;

/** A conversation, with what to type the next message into. */
export class Chat extends LitElement {
  static override properties = { conversation: { attribute: false }, models: { attribute: false }, draft: { state: true }, opened: { state: true } };
  declare conversation: Conversation;
  declare models: Model[];
  declare draft: string;
  declare opened: string;
  private ticking: ReturnType<typeof setInterval> | undefined;
  private follow = true;
  /** How far from the end is what is read, in pixels, while older messages come above it. */
  private fromEnd: number | undefined;
  private shownCard = '';
  private timelineOf: Followed | undefined;

  constructor() {
    super();
    this.models = [];
    this.draft = '';
    this.opened = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', this.key);
    this.ticking = setInterval(() => this.tick(), 250);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('keydown', this.key);
    clearInterval(this.ticking);
  }

  /** Lets the person begin to type. */
  focusComposer(): void {
    this.querySelector('textarea')?.focus();
  }

  private tick(): void {
    const last = this.conversation.last;
    if (last && (last.alive || last.view.suggestion)) {
      this.requestUpdate();
    }
  }

  private get situation(): Situation | undefined {
    const last = this.conversation.last;
    return last && last.view.seq > 0 ? situation(last.view, this.conversation.client.now()) : undefined;
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
      const button = this.querySelector<HTMLButtonElement>(`button[aria-keyshortcuts="Alt+${digit}"]`);
      if (button) {
        e.preventDefault();
        button.click();
      }
    }
  };

  protected override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('conversation')) {
      this.follow = true;
      this.fromEnd = undefined;
    }
    const id = this.conversation.last?.view.suggestion?.id ?? '';
    if (id !== this.shownCard) {
      this.shownCard = id;
      this.opened = '';
    }
  }

  protected override updated(changed: PropertyValues<this>): void {
    const area = this.querySelector('textarea');
    if (area && changed.has('draft')) { // as high as what is typed, however its lines are broken
      area.style.height = 'auto';
      area.style.height = `${area.scrollHeight}px`;
    }
    const scroller = this.querySelector('.scroll');
    if (scroller && this.follow) {
      scroller.scrollTop = scroller.scrollHeight;
    } else if (scroller && this.fromEnd !== undefined) {
      scroller.scrollTop = scroller.scrollHeight - this.fromEnd;
    }
  }

  protected override render(): TemplateResult {
    const c = this.conversation;
    const empty = c.runs.length === 0 && !c.sending;
    return html`
      <div class="scroll" tabindex="0" role="region" aria-label="Conversation" @scroll=${this.scrolled} @wheel=${this.moved} @pointerdown=${this.moved} @keydown=${this.moved}>
        <div class="column">
          ${c.older ? html`<button class="older" @click=${() => this.older()}>Show earlier messages</button>` : nothing}
          ${c.loading && empty ? html`<p class="note">Loading…</p>` : nothing}
          ${!c.loading && empty ? this.welcome() : nothing}
          ${c.runs.map((run, i) => this.run(run, i === c.runs.length - 1))}
          ${c.sending ? html`<div class="user"><div class="bubble">${c.sending}</div></div>` : nothing}
        </div>
      </div>
      ${this.composer()}
      ${this.timelineDialog()}`;
  }

  private welcome(): TemplateResult {
    return html`
      <div class="welcome">
        <h2>What should be done?</h2>
        <p>When a model fails, you see why, and choose what happens next. Nothing that is finished is lost.</p>
      </div>`;
  }

  private run(run: Followed, last: boolean): TemplateResult {
    const v = run.view;
    const c = this.conversation;
    const doings: Doings = { model: c.model ?? '', switchBack: (model) => void c.setModel(model) };
    return html`
      <article class="run" data-status=${v.status} data-run=${run.id}>
        ${transcript(v.entries, doings)}
        ${last ? this.below(run) : this.closed(run)}
        ${v.stopReason || v.suggestion ? html`
          <div class="foot"><button class="link quiet" @click=${() => this.showTimeline(run)}>Timeline</button></div>` : nothing}
      </article>`;
  }

  /** What stays of an older run. */
  private closed(run: Followed): TemplateResult | typeof nothing {
    const v = run.view;
    if (v.status === 'cancelled' || v.closed === 'stopped') {
      return html`<p class="note"><span class="square quiet" aria-hidden="true"></span>Stopped. The text above is kept.</p>`;
    }
    return v.status === 'failed' ? html`<p class="note"><span class="square quiet" aria-hidden="true"></span>${v.error?.title ?? 'Failed'}</p>` : nothing;
  }

  private below(run: Followed): TemplateResult {
    const v = run.view;
    const c = this.conversation;
    const s = this.situation;
    if (!s) {
      return html``;
    }
    const actions = this.actions(s);
    const state = { answering: c.answering !== '' && c.answering === s.asks, opened: this.opened };
    return html`
      ${run.connected || !run.alive ? nothing : html`<p class="note reconnecting">Reconnecting to the gateway…</p>`}
      ${line(s, actions)}
      ${s.suggestion ? card(s.suggestion, v, state, actions) : nothing}
      ${s.state === 'failed' ? failedCard(v.error, state, actions) : nothing}`;
  }

  private actions(s: Situation): Actions {
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

  private async choose(s: Situation, model: string): Promise<void> {
    const offered = s.actions.find((b) => b.kind === 'switch_model');
    if (offered) {
      await this.conversation.answer(s.asks ?? '', { action: offered.id, model });
      return;
    }
    await this.conversation.setModel(model); // a new message is what it takes
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

  /** Puts the message back where it can be edited. */
  private edit(): void {
    this.draft = this.conversation.last?.view.prompt ?? '';
    void this.updateComplete.then(() => {
      const area = this.querySelector('textarea');
      area?.focus();
      area?.setSelectionRange(this.draft.length, this.draft.length);
    });
  }

  private async copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement('textarea'); // not every page may use the clipboard
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    this.opened = 'copied';
  }

  private composer(): TemplateResult {
    const c = this.conversation;
    const alive = c.last?.alive ?? false;
    return html`
      <form class="composer" @submit=${(e: Event) => { e.preventDefault(); void this.send(); }}>
        <div class="column">
          ${c.trouble ? html`<p class="trouble" role="alert"><span class="square bad" aria-hidden="true"></span><span>${sentenceOf(c.trouble)}</span></p>` : nothing}
          <div class="box">
            <label class="sr" for="message">Message</label>
            <textarea id="message" rows="1" dir="auto" placeholder=${alive ? 'Type to stop and say something else' : 'Write a message'} maxlength="1000000"
              .value=${this.draft} @input=${(e: Event) => { this.draft = (e.target as HTMLTextAreaElement).value; }} @keydown=${this.enter}></textarea>
            <div class="tools">
              ${this.modelPicker()}
              ${this.recovery()}
              <span class="grow"></span>
              ${alive ? html`<button type="button" class="stop" aria-label="Stop" title="Stop (Esc)" @click=${() => void c.stop()}><span class="stopmark" aria-hidden="true"></span><span class="wide">Stop</span></button>` : nothing}
              <button type="submit" class="send" ?disabled=${this.draft.trim() === '' || c.sending !== ''}>Send</button>
            </div>
          </div>
        </div>
      </form>`;
  }

  private modelPicker(): TemplateResult {
    const c = this.conversation;
    const names = this.models.map((m) => m.name);
    const usual = this.models.find((m) => m.default);
    const among = (m: Model): string => modelAmong(m.name, names) + (!m.ready ? ` (no ${providerName(entryOf(m.name))} key)` : m.cooling ? ' (cooling down)' : '');
    return html`
      <label class="pick"><span class="sr">Model</span>
        <select aria-label="Model" @change=${(e: Event) => void c.setModel((e.target as HTMLSelectElement).value)}>
          <option value="" .selected=${!c.model}>${usual ? among(usual) : 'Usual model'}</option>
          ${this.models.filter((m) => m !== usual || c.model === m.name).map((m) => html`
            <option value=${m.name} .selected=${c.model === m.name} ?disabled=${!m.ready}>${among(m)}</option>`)}
          ${c.model && !names.includes(c.model) ? html`<option value=${c.model} .selected=${true}>${modelAmong(c.model, names)}</option>` : nothing}
        </select>
      </label>`;
  }

  private recovery(): TemplateResult {
    const c = this.conversation;
    const on = c.autoRecover ?? rememberedAutoRecover() ?? false;
    const remembered = rememberedAutoRecover() === on;
    return html`
      <span class="auto">
        <button type="button" class="switch" role="switch" aria-checked=${on} aria-label="Auto-recover" title="When a model fails: recover by itself, or ask" @click=${() => void this.setAuto(!on)}>
          <span class="track" aria-hidden="true"></span><span>Auto<span class="wide">-recover</span></span>
        </button>
        <label class="remember"><input type="checkbox" .checked=${remembered} @change=${(e: Event) => this.remember(on, (e.target as HTMLInputElement).checked)}>Remember this choice</label>
      </span>`;
  }

  private async setAuto(on: boolean): Promise<void> {
    if (rememberedAutoRecover() !== undefined) {
      rememberAutoRecover(on);
    }
    await this.conversation.setAutoRecover(on);
  }

  private remember(on: boolean, remember: boolean): void {
    rememberAutoRecover(remember ? on : undefined);
    this.requestUpdate();
  }

  private readonly enter = (e: KeyboardEvent): void => {
    if (e.key === 'Enter' && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      void this.send();
    }
  };

  private async send(): Promise<void> {
    const text = this.draft.trim();
    if (!text || this.conversation.sending) {
      return;
    }
    this.draft = '';
    this.follow = true;
    this.dispatchEvent(new CustomEvent('sent', { bubbles: true }));
    if (!(await this.conversation.send(text)) && !this.draft) {
      this.draft = text; // nothing that was typed is lost
    }
  }

  /** Loads what is older above what is read, which stays where it is while that comes. */
  private async older(): Promise<void> {
    const scroller = this.querySelector('.scroll');
    this.follow = false;
    this.fromEnd = scroller ? scroller.scrollHeight - scroller.scrollTop : undefined;
    await this.conversation.loadOlder();
  }

  /** The person goes somewhere else. */
  private readonly moved = (): void => {
    this.fromEnd = undefined;
  };

  private readonly scrolled = (e: Event): void => {
    const at = e.target as HTMLElement;
    this.follow = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR;
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
        <header><h2 id="timeline-title">Timeline of the run</h2><form method="dialog"><button class="icon" aria-label="Close">×</button></form></header>
        <div class="body">${run ? timeline(run.view, this.conversation.client.now()) : nothing}</div>
      </dialog>`;
  }
}

customElements.define('mulligan-chat', Chat);
