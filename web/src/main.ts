import { Client, newId, Problem, type Lab, type LabFault, type Listed, type Model, type Plugin } from '@mulligan-run/client';
import { html, LitElement, nothing, type TemplateResult } from 'lit';

import './chat.js';
import type { Chat } from './chat.js';
import { Conversation, explain, sentence, type Beginning } from './conversation.js';
import './conversations.js';
import { forgetDrafts, keepDraft, keepPictures, keepQueue } from './drafts.js';
import { decoded, titleOf, type Item } from './items.js';
import './lab.js';
import { playsIn, type LabPanel } from './lab.js';
import type { Picture } from './pictures.js';
import { applyTheme, rememberedAutoRecover, rememberedLocal, setTheme, theme, type Theme } from './settings.js';
import './setup.js';
import './signin.js';
import { sentenceOf } from './words.js';

/** How often the list of conversations is refreshed, in milliseconds: in a visible window, and in the background. */
const LOOK_MS = 4000;
const LOOK_HIDDEN_MS = 15_000;

/** The address of a new conversation with the fault lab. */
const PLAY = 'play';

/** How long a window in the background follows its runs, in milliseconds. */
const REST_MS = 30_000;

/** The chat page. */
class App extends LitElement {
  static override properties = {
    items: { state: true }, models: { state: true }, plugins: { state: true }, trouble: { state: true }, signedOut: { state: true }, drawer: { state: true }, lab: { state: true },
  };
  declare items: Item[];
  declare models: Model[];
  declare plugins: Plugin[];
  declare trouble: string;
  declare signedOut: boolean;
  declare drawer: boolean;
  declare lab: Lab | undefined;
  private readonly client = new Client();
  private path = '';
  private conversation = this.open(location.hash.slice(2));
  private looking: ReturnType<typeof setTimeout> | undefined;
  private learning: ReturnType<typeof setTimeout> | undefined;
  /** Why a login link was refused. */
  private refused = '';
  private resting: ReturnType<typeof setTimeout> | undefined;
  /** The gateway does not answer. */
  private away = false;
  private frame = 0;
  private late: ReturnType<typeof setTimeout> | undefined;
  private standing = '';
  /** The new conversation will use the fault lab. */
  private wantsLab = false;
  /** The models and plugins were loaded. */
  private learnt = false;
  /** The suggestions for which a notification was shown; undefined until the first refresh. */
  private told: Set<string> | undefined;

  constructor() {
    super();
    this.items = [];
    this.models = [];
    this.plugins = [];
    this.trouble = '';
    this.signedOut = false;
    this.drawer = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener('hashchange', () => this.arrive());
    document.addEventListener('visibilitychange', () => this.seen());
    matchMedia('(max-width: 760px)').addEventListener('change', () => { this.drawer = false; }); // the list appears beside the conversation, or disappears
    document.addEventListener('keydown', (e) => {
      if (e.key === 'Escape' && this.drawer) {
        e.preventDefault();
        this.show(false);
      }
    });
    this.arrive();
  }

  /** Follows runs while the window is visible, and a little longer. */
  private seen(): void {
    clearTimeout(this.resting);
    if (document.hidden) {
      this.resting = setTimeout(() => this.conversation.rest(), REST_MS);
      return;
    }
    this.conversation.wake();
    void this.look();
  }

  /** Handles an address: a conversation, or a login link. */
  private arrive(): void {
    const code = /^#code=(.+)$/.exec(location.hash)?.[1];
    if (code) {
      void this.signIn(code);
    } else {
      this.goTo(location.hash.slice(2));
      if (!this.looking) {
        void this.begin();
      }
    }
  }

  private async begin(): Promise<void> {
    await this.look();
    if (this.signedOut) {
      return;
    }
    void this.learn();
    if (this.conversation.signedOut) {
      this.conversation.signedOut = false;
      void this.conversation.load();
    }
  }

  private async signIn(code: string): Promise<void> {
    history.replaceState(null, '', location.pathname); // a code works once, and must not stay in the address
    try {
      await this.client.login(code);
      this.refused = '';
    } catch (error) {
      this.refused = error instanceof Problem ? error.message : explain(error);
    }
    await this.begin();
    this.goTo('');
  }

  private async signOut(): Promise<void> {
    clearTimeout(this.looking);
    clearTimeout(this.learning);
    await this.client.logout().catch(() => {});
    this.conversation.rest();
    forgetDrafts();
    this.signedOut = true;
  }

  /** Begins or opens the conversation of an address. */
  private open(path: string): Conversation {
    const [kind, id] = [path.slice(0, 2), decoded(path.slice(2))];
    this.wantsLab = path === PLAY;
    this.path = id && (kind === 's/' || kind === 'r/') ? path : `s/${newId()}`;
    const fresh = this.path !== path;
    const c = new Conversation(this.client, kind === 's/' && !fresh ? id : fresh ? this.path.slice(2) : newId(), () => this.changed(), fresh, kind === 'r/' ? id : undefined);
    c.autoRecover = fresh ? rememberedAutoRecover() : undefined;
    if (fresh) {
      c.loading = false;
    } else {
      void c.load();
    }
    return c;
  }

  /** Draws at most once per frame, however much happens. */
  private changed(): void {
    this.signedOut ||= this.conversation?.signedOut ?? false;
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => this.draw());
      this.late = setTimeout(() => this.draw(), 250); // a window in the background has no frames
    }
  }

  /** Decides whether this conversation uses the fault lab: a new one does if there is no key. */
  private settleLab(): void {
    const c = this.conversation;
    const keyless = this.learnt && !this.models.some((m) => m.ready);
    if (keyless && c.isNew && !this.wantsLab) {
      c.model ??= rememberedLocal();
    }
    if (c.isNew && !this.wantsLab && (!keyless || c.model)) {
      c.lab = undefined; // a model can be asked now
    }
    const plays = playsIn(c, this.lab, this.wantsLab || keyless && !c.model);
    if (plays && !c.lab) {
      c.autoRecover ??= true; // so that a recovery can be watched without being asked first
    }
    c.lab = plays ? this.lab : undefined;
  }

  private draw(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.late);
    this.frame = 0;
    const standing = `${this.conversation.last?.view.status} ${this.conversation.last?.view.suggestion?.id}`;
    if (standing !== this.standing) {
      this.standing = standing; // the list should show it, too
      setTimeout(() => void this.look(), 100);
    }
    this.requestUpdate();
    this.querySelector<Chat>('mulligan-chat')?.requestUpdate();
    this.querySelector<LabPanel>('mulligan-lab')?.requestUpdate();
  }

  /** Opens or closes the list where it overlays the conversation, which is inert meanwhile. */
  private show(drawer: boolean): void {
    this.drawer = drawer;
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(drawer ? '.side .new' : '.menu')?.focus());
  }

  private goTo(path: string): void {
    this.drawer = false;
    if (path === this.path && path !== '') {
      return;
    }
    this.conversation.rest();
    this.conversation = this.open(path);
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector<Chat>('mulligan-chat')?.focusComposer());
  }

  /** Refreshes the conversations, and who waits for a person. */
  private async look(): Promise<void> {
    clearTimeout(this.looking);
    try {
      const [sessions, runs] = await Promise.all([this.client.sessions(100), this.client.runs({ limit: 50 })]);
      const alone = runs.runs.filter((run) => !run.session);
      this.items = [
        ...sessions.map((s) => ({ path: `s/${encodeURIComponent(s.id)}`, title: s.title, last: s.last })),
        ...alone.map((run) => ({ path: `r/${encodeURIComponent(run.id)}`, title: run.title, last: run })),
      ].sort((a, b) => b.last.startedAt.localeCompare(a.last.startedAt));
      this.trouble = '';
      this.away = false;
      this.signedOut = false;
      this.conversation.answers();
      const mine = this.items.find((item) => item.path === this.path);
      if (mine && mine.path.startsWith('s/')) {
        this.conversation.notice(mine.last);
      }
      this.notify(runs.runs);
    } catch (error) {
      this.signedOut = error instanceof Problem && error.status === 401;
      this.away = !(error instanceof Problem);
      this.trouble = explain(error);
    }
    if (!this.signedOut) { // without a login there is nothing to refresh
      this.looking = setTimeout(() => void this.look(), document.hidden ? LOOK_HIDDEN_MS : LOOK_MS);
    }
  }

  private async learn(): Promise<void> {
    try {
      [this.models, this.plugins, this.lab] = await Promise.all([this.client.models(), this.client.plugins(), this.lab ?? this.client.lab()]);
      this.learnt = true;
    } catch {
      // look shows the error
    }
    clearTimeout(this.learning);
    if (!this.signedOut) {
      this.learning = setTimeout(() => void this.learn(), document.hidden ? 60_000 : 15_000);
    }
  }

  /** Notifies a person in another window that a run waits for them. */
  private notify(runs: Listed[]): void {
    const waiting = runs.filter((run) => run.suggestionOpen);
    const told = this.told ?? new Set(waiting.map((run) => run.id));
    for (const run of waiting) {
      if (!told.has(run.id) && document.hidden && 'Notification' in window && Notification.permission === 'granted') {
        const n = new Notification(run.approval ? 'Mulligan needs your approval' : 'Mulligan needs you', { body: run.title, tag: run.id });
        n.onclick = () => {
          window.focus();
          location.hash = run.session ? `#/s/${encodeURIComponent(run.session)}` : `#/r/${encodeURIComponent(run.id)}`;
        };
      }
    }
    this.told = new Set(waiting.map((run) => run.id));
    document.title = waiting.length > 0 ? `(${waiting.length}) Mulligan` : 'Mulligan';
  }

  protected override render(): TemplateResult {
    if (this.signedOut) {
      return html`<mulligan-signin .refused=${this.refused && sentence(this.refused)} @code=${(e: CustomEvent<string>) => void this.signIn(e.detail)}
        @again=${() => { this.refused = ''; void this.begin(); }}></mulligan-signin>`;
    }
    this.settleLab();
    return html`
      <a class="skip" href="#message" @click=${(e: Event) => { e.preventDefault(); this.querySelector<Chat>('mulligan-chat')?.focusComposer(); }}>Skip to the message</a>
      ${this.drawer ? html`<div class="shade" @click=${() => this.show(false)}></div>` : nothing}
      <nav class="side ${this.drawer ? 'open' : ''}" aria-label="Conversations">${this.side()}</nav>
      <main ?inert=${this.drawer}>
        <header class="top">
          <button class="icon menu" aria-label="Conversations" aria-expanded=${this.drawer} @click=${() => this.show(true)}><span class="bars" aria-hidden="true"></span></button>
          <h1 dir="auto">${this.items.find((item) => item.path === this.path)?.title || (this.conversation.last?.view.prompt ?? '').slice(0, 200) || 'New conversation'}</h1>
        </header>
        ${this.trouble ? html`<p class="banner" role="alert">${sentenceOf(this.trouble)}</p>` : nothing}
        <div class="beside">
          <mulligan-chat .conversation=${this.conversation} .models=${this.models} .modelless=${this.learnt && this.models.length === 0} .away=${this.away} @sent=${this.sent} @branch=${this.branch} @keys=${() => void this.learn()}></mulligan-chat>
          ${this.conversation.lab ? html`<mulligan-lab role="complementary" aria-label="Fault lab" .conversation=${this.conversation} .lab=${this.conversation.lab}
            @watch=${(e: CustomEvent<LabFault>) => void this.querySelector<Chat>('mulligan-chat')?.send(e.detail)}></mulligan-lab>` : nothing}
        </div>
      </main>`;
  }

  /** Continues the open conversation in a new one; the browser's Back returns to the old one. */
  private readonly branch = (e: CustomEvent<{ text: string; pictures: Picture[]; beginning: Beginning }>): void => {
    const session = newId();
    const { text, pictures, beginning } = e.detail;
    this.conversation.rest();
    this.path = `s/${session}`;
    this.conversation = this.conversation.branch(session, beginning);
    history.pushState(null, '', `#/${this.path}`);
    void this.conversation.send(text, pictures).then(async (sent) => {
      if (sent && text && (beginning.branchOf || beginning.messages)) { // otherwise both would have the same title
        await this.client.setSessionTitle(session, titleOf(text)).catch(() => {});
      }
      await this.look();
    });
    this.requestUpdate();
    void this.updateComplete.then(() => this.querySelector<Chat>('mulligan-chat')?.focusComposer());
  };

  /** A conversation was deleted: its draft is dropped, and if it was open, a new one takes its place. */
  private readonly deleted = (e: CustomEvent<string>): void => {
    const session = decoded(e.detail.slice(2));
    keepDraft(session, '');
    keepPictures(session, []);
    keepQueue(session, []);
    this.items = this.items.filter((item) => item.path !== e.detail);
    if (e.detail === this.path) {
      location.hash = `#/new${newId().slice(0, 8)}`;
    }
    void this.look();
  };

  /** Shows a conversation's address as soon as it has a message. */
  private readonly sent = (): void => {
    if (location.hash !== `#/${this.path}`) {
      if (this.path.startsWith('r/')) {
        location.hash = `#/s/${this.conversation.session}`;
      } else {
        history.replaceState(null, '', `#/${this.path}`);
      }
    }
    setTimeout(() => void this.look(), 300);
  };

  private side(): TemplateResult {
    return html`
      <div class="brand"><img src="icon.svg" alt="" width="24" height="24">Mulligan</div>
      <button class="new" @click=${() => { location.hash = `#/new${newId().slice(0, 8)}`; }}>New conversation</button>
      <mulligan-conversations .client=${this.client} .items=${this.items} .path=${this.path} @changed=${() => void this.look()} @deleted=${this.deleted}></mulligan-conversations>
      <div class="low">
        ${this.health()}
        <a class="link quiet" href="/runs">All runs</a>
        <mulligan-keys .client=${this.client} @keys=${() => void this.learn()}></mulligan-keys>
        ${this.lab?.model && !this.conversation.lab ? html`<a class="link quiet" href="#/${PLAY}">Play with failures</a>` : nothing}
        ${'Notification' in window && Notification.permission === 'default' ? html`
          <button class="link quiet" @click=${async () => { await Notification.requestPermission(); this.requestUpdate(); }}>Notify me when a run needs me</button>` : nothing}
        <label class="themes">Theme
          <select @change=${(e: Event) => { setTheme((e.target as HTMLSelectElement).value as Theme); this.requestUpdate(); }}>
            ${(['system', 'light', 'dark'] as const).map((name) => html`<option value=${name} ?selected=${theme() === name}>${name.charAt(0).toUpperCase()}${name.slice(1)}</option>`)}
          </select>
        </label>
        <button class="link quiet" @click=${() => void this.signOut()}>Sign out</button>
      </div>`;
  }

  private health(): TemplateResult {
    const ill = this.plugins.filter((p) => p.state === 'backoff' || p.state === 'tripped');
    const count = (n: number): string => (n === 1 ? '1 plugin' : `${n} plugins`);
    if (this.trouble) {
      return html`<p class="plugins"><span class="ring" aria-hidden="true"></span>Not connected</p>`;
    }
    const words = this.plugins.length === 0 ? 'No recovery plugins' : ill.length === 0 ? `${count(this.plugins.length)}, healthy` : `${count(ill.length)} failing`;
    return html`
      <details class="plugins">
        <summary><span class=${ill.length ? 'square bad' : this.plugins.length ? 'dot good' : 'ring'} aria-hidden="true"></span>${words}</summary>
        <ul>${this.plugins.map((p) => html`<li><code>${p.name}</code> <span class="meta">${p.state}${p.shadow ? ', on trial' : ''}${p.version ? ` · ${p.version}` : ''}</span>${p.lastError ? html`<p class="meta">${p.lastError}</p>` : nothing}</li>`)}</ul>
      </details>`;
  }
}

applyTheme();
customElements.define('mulligan-app', App);
