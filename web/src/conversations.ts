import { Problem, type Client, type Listed } from '@mulligan-run/client';
import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import { explain } from './conversation.js';
import { ago, mark, MAX_TITLE, sessionOf, type Item } from './items.js';

/** How long a pause in typing starts the search, in milliseconds. */
const PAUSE_MS = 200;

/** How many matching runs are fetched. */
const MAX_FOUND = 100;

/** The list of conversations, with search, rename and delete. It sends the event `changed` after a change, and `deleted` after a deletion. */
export class Conversations extends LitElement {
  static override properties = {
    client: { attribute: false }, items: { attribute: false }, path: { attribute: false },
    wanted: { state: true }, found: { state: true }, menu: { state: true }, renaming: { state: true }, trouble: { state: true }, deleting: { state: true }, busy: { state: true },
  };
  declare client: Client;
  declare items: Item[];
  /** The conversation that is open. */
  declare path: string;
  /** The search text. */
  declare wanted: string;
  /** What the gateway found, in addition to the listed conversations. */
  declare found: Item[];
  /** The path of the conversation whose menu is open, and of the one being renamed; "" for none. */
  declare menu: string;
  declare renaming: string;
  /** The conversation that is about to be deleted. */
  declare deleting: Item | undefined;
  /** What went wrong with the last change. */
  declare trouble: string;
  declare busy: boolean;
  private pause: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.items = [];
    this.path = '';
    this.wanted = '';
    this.found = [];
    this.menu = '';
    this.renaming = '';
    this.trouble = '';
    this.busy = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('pointerdown', this.elsewhere);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    document.removeEventListener('pointerdown', this.elsewhere);
    clearTimeout(this.pause);
  }

  private readonly elsewhere = (e: Event): void => {
    if (this.menu && !(e.target instanceof Element && e.target.closest('.rowmenu, .rowmore'))) {
      this.menu = '';
    }
  };

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has('menu') && this.menu) {
      this.placeMenu();
    }
  }

  /** Puts the menu beside its button but outside of the scrolling list, which would clip it. */
  private placeMenu(): void {
    const [button, menu] = [this.querySelector('.rowmore[aria-expanded="true"]'), this.querySelector<HTMLElement>('.rowmenu')];
    if (!button || !menu) {
      return;
    }
    const at = button.getBoundingClientRect();
    const below = at.bottom + menu.offsetHeight + 8 < innerHeight;
    menu.style.top = `${below ? at.bottom + 4 : at.top - menu.offsetHeight - 4}px`;
    menu.style.left = `${Math.max(8, at.right - menu.offsetWidth)}px`;
    menu.querySelector('button')?.focus();
  }

  protected override render(): TemplateResult {
    const shown = this.shown();
    return html`
      ${this.items.length > 0 || this.wanted ? html`
        <label class="sr" for="find">Search conversations</label>
        <input id="find" class="find" type="search" placeholder="Search" autocomplete="off" maxlength="200" .value=${this.wanted} @input=${this.look} @keydown=${this.leaveSearch}>` : nothing}
      <p class="sr" role="status">${this.wanted ? `${shown.length === 1 ? '1 conversation' : `${shown.length} conversations`} found` : ''}</p>
      <ul class="list" @scroll=${() => { this.menu = ''; }}>
        ${repeat(shown, (item) => item.path, (item) => this.row(item))}
        ${this.wanted && shown.length === 0 ? html`<li class="nothing meta">Nothing was said about “${this.wanted}”.</li>` : nothing}
      </ul>
      ${this.confirmation()}`;
  }

  /** The listed conversations: all, or those that match the search. */
  private shown(): Item[] {
    const words = this.wanted.trim().toLowerCase();
    if (!words) {
      return this.items;
    }
    const here = this.items.filter((item) => item.title.toLowerCase().includes(words));
    const known = new Map(this.items.map((item) => [item.path, item]));
    const more = this.found.filter((item) => !here.some((h) => h.path === item.path));
    return [...here, ...more.map((item) => known.get(item.path) ?? item)];
  }

  private row(item: Item): TemplateResult {
    const title = item.title || 'Untitled';
    if (this.renaming === item.path) {
      return html`<li>${this.renameForm(item)}</li>`;
    }
    return html`
      <li class="talk">
        <a href="#/${item.path}" aria-current=${item.path === this.path ? 'page' : nothing}>
          <span class="title" dir="auto">${title}</span>
          <span class="meta">${mark(item.last)}${ago(item.last.updatedAt, this.client.now())}</span>
        </a>
        ${sessionOf(item) === undefined ? nothing : html`
          <button class="icon rowmore" aria-label="More about “${title}”" aria-haspopup="menu" aria-expanded=${this.menu === item.path}
            @click=${() => { this.menu = this.menu === item.path ? '' : item.path; }}><span aria-hidden="true">⋯</span></button>`}
        ${this.menu === item.path ? html`
          <div class="rowmenu" role="menu" aria-label="“${title}”" @keydown=${this.inMenu} @focusout=${this.leftMenu}>
            <button role="menuitem" @click=${() => this.rename(item)}>Rename</button>
            <button role="menuitem" class="dire" @click=${() => this.ask(item)}>Delete…</button>
          </div>` : nothing}
      </li>`;
  }

  private readonly inMenu = (e: KeyboardEvent): void => {
    const all = [...this.querySelectorAll<HTMLElement>('.rowmenu button')];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step !== undefined) {
      e.preventDefault();
      all[(at + step + all.length) % all.length]?.focus();
    } else if (e.key === 'Escape') {
      e.preventDefault();
      e.stopPropagation(); // it must not stop a run or close the list
      const of = this.menu;
      this.menu = '';
      this.focusRow(of);
    }
  };

  private readonly leftMenu = (e: FocusEvent): void => {
    const to = e.relatedTarget;
    if (to instanceof Element && !to.closest('.rowmenu, .rowmore')) {
      this.menu = '';
    }
  };

  private focusRow(path: string): void {
    void this.updateComplete.then(() => this.querySelector<HTMLElement>(`.talk:has(a[href="#/${CSS.escape(path)}"]) .rowmore`)?.focus());
  }

  private rename(item: Item): void {
    this.menu = '';
    this.trouble = '';
    this.renaming = item.path;
    void this.updateComplete.then(() => this.querySelector<HTMLInputElement>('.rename input')?.select());
  }

  private renameForm(item: Item): TemplateResult {
    const leave = (e: KeyboardEvent): void => {
      if (e.key === 'Escape') {
        e.preventDefault();
        e.stopPropagation();
        this.renaming = '';
        this.focusRow(item.path);
      }
    };
    return html`
      <form class="rename" @submit=${(e: Event) => { e.preventDefault(); void this.setTitle(item, true); }}>
        <input aria-label="Title" dir="auto" maxlength=${MAX_TITLE} .value=${item.title} placeholder="What was said first" ?readonly=${this.busy}
          aria-describedby=${this.trouble ? 'rename-trouble' : nothing} @keydown=${leave} @blur=${() => void this.setTitle(item, false)}>
        ${this.trouble ? html`<p id="rename-trouble" class="refused" role="alert"><span class="square bad" aria-hidden="true"></span><span>${this.trouble}</span></p>` : nothing}
      </form>`;
  }

  private async setTitle(item: Item, stays: boolean): Promise<void> {
    const title = this.querySelector<HTMLInputElement>('.rename input')?.value.trim() ?? item.title;
    const session = sessionOf(item);
    if (this.renaming !== item.path || this.busy || session === undefined) {
      return;
    }
    this.busy = true;
    try {
      if (title !== item.title) {
        await this.client.setSessionTitle(session, title);
        item.title = title || item.title; // until the list has it
      }
      this.renaming = '';
      this.trouble = '';
      if (stays) {
        this.focusRow(item.path);
      }
      this.dispatchEvent(new CustomEvent('changed'));
    } catch (error) {
      this.trouble = explain(error);
    }
    this.busy = false;
  }

  private ask(item: Item): void {
    this.menu = '';
    this.trouble = '';
    this.deleting = item;
    void this.updateComplete.then(() => this.querySelector<HTMLDialogElement>('dialog.confirm')?.showModal());
  }

  private confirmation(): TemplateResult {
    const item = this.deleting;
    const over = (): void => {
      this.deleting = undefined;
      if (item) {
        this.focusRow(item.path);
      }
    };
    return html`
      <dialog class="confirm" aria-labelledby="confirm-title" aria-describedby="confirm-what" @close=${over} @keydown=${(e: Event) => e.stopPropagation()}>
        <h2 id="confirm-title">Delete this conversation?</h2>
        <p id="confirm-what"><strong dir="auto">${item?.title || 'Untitled'}</strong> is deleted for good, with everything that was said in it.</p>
        ${this.trouble ? html`<p class="refused" role="alert"><span class="square bad" aria-hidden="true"></span><span>${this.trouble}</span></p>` : nothing}
        <form method="dialog">
          <button autofocus>Cancel</button>
          <button type="button" class="dire" ?disabled=${this.busy} @click=${() => void this.deleteIt()}>${this.busy ? 'Deleting…' : 'Delete'}</button>
        </form>
      </dialog>`;
  }

  private async deleteIt(): Promise<void> {
    const item = this.deleting;
    const session = item && sessionOf(item);
    if (!item || session === undefined) {
      return;
    }
    this.busy = true;
    this.trouble = '';
    try {
      await this.client.deleteSession(session).catch((error: unknown) => {
        if (!(error instanceof Problem && error.status === 404)) { // otherwise somebody else has deleted it
          throw error;
        }
      });
      this.querySelector<HTMLDialogElement>('dialog.confirm')?.close();
      this.found = this.found.filter((f) => f.path !== item.path);
      this.dispatchEvent(new CustomEvent('deleted', { detail: item.path }));
    } catch (error) {
      this.trouble = error instanceof Problem && error.status === 409 ?
        'It is not over: an answer is being written in it, or it asks you something. Stop that first.' : explain(error);
    }
    this.busy = false;
  }

  private readonly look = (e: Event): void => {
    this.wanted = (e.target as HTMLInputElement).value;
    this.found = [];
    clearTimeout(this.pause);
    const words = this.wanted.trim();
    if (words) {
      this.pause = setTimeout(() => void this.find(words), PAUSE_MS);
    }
  };

  private readonly leaveSearch = (e: KeyboardEvent): void => {
    if (e.key === 'Escape' && this.wanted) {
      e.preventDefault();
      e.stopPropagation();
      this.wanted = '';
      this.found = [];
    }
  };

  /** Finds conversations by the first message of any of their runs, including ones too old to be listed. */
  private async find(words: string): Promise<void> {
    try {
      const { runs } = await this.client.runs({ text: words, limit: MAX_FOUND });
      if (words === this.wanted.trim()) {
        const paths = new Map<string, Listed>();
        for (const run of runs) {
          const path = run.session ? `s/${encodeURIComponent(run.session)}` : `r/${encodeURIComponent(run.id)}`;
          if (!paths.has(path)) {
            paths.set(path, run);
          }
        }
        this.found = [...paths].map(([path, last]) => ({ path, title: last.title, last }));
      }
    } catch {
      // the listed ones were searched, and the page says that the gateway does not answer
    }
  }
}

customElements.define('mulligan-conversations', Conversations);
