import { Client, modelName, Problem, type Listed, type OpenCause, type Plugin, type Providers, type RunQuery } from '@mulligan-run/client';
import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import { explain } from './conversation.js';
import { cost, lasting, moment, standing, wasted } from './figures.js';
import { addressOf, filtersOf } from './filters.js';
import { conversationOf, rowsOf, type Row } from './fold.js';
import './needs.js';
import './plugins.js';
import { providersTable } from './providers.js';
import { applyTheme } from './settings.js';

/** How often the page looks for changes, in milliseconds. */
const LOOK_MS = 3000;

/** How many runs a request returns, and the height of a row in pixels (the style sheet has the same): of any, on a phone, and on a phone if rows have labels. */
const PAGE = 100;
const ROW = 44;
const NARROW_ROW = 64;
const LABELLED_ROW = 92;

/** How many rows fill any screen, and how many pages are read for them at once if conversations are long. */
const ROOM = 40;
const MOST_PAGES = 10;

/** The states that can be filtered by. */
const STATES: [string, RunQuery][] = [
  ['All', {}], ['Needs you', { needsYou: true }], ['Running', { status: 'running' }], ['Waiting', { status: 'waiting' }], ['Completed', { status: 'completed' }],
  ['Failed', { status: 'failed' }],
];

const TIMES: [string, string][] = [['', 'Any time'], ['1h', 'Last hour'], ['24h', 'Last day'], ['7d', 'Last week'], ['30d', 'Last month']];

/** The labels that whoever began a run gave it. */
function labelsOf(run: Listed): string[] {
  return Object.entries(run.labels ?? {}).filter(([name]) => !name.startsWith('mulligan/')).map(([name, value]) => `${name}=${value}`);
}

/** All runs, what waits for a person, and how providers and plugins perform. */
class Runs extends LitElement {
  static override properties = {
    runs: { state: true }, causes: { state: true }, providers: { state: true }, plugins: { state: true }, trouble: { state: true }, signedOut: { state: true },
    from: { state: true }, at: { state: true }, loading: { state: true },
  };
  declare runs: Listed[];
  declare causes: OpenCause[];
  declare providers: Providers | undefined;
  declare plugins: Plugin[];
  declare trouble: string;
  declare signedOut: boolean;
  /** The first row that is drawn, and the one that has the focus. */
  declare from: number;
  declare at: number;
  declare loading: boolean;
  private readonly client = new Client();
  private query: RunQuery = {};
  private rows: Row[] = [];
  private next: string | undefined;
  private asked = 0;
  private looking: ReturnType<typeof setTimeout> | undefined;
  private typing: ReturnType<typeof setTimeout> | undefined;
  /** The height of a row that was drawn last. */
  private height = 0;

  constructor() {
    super();
    this.runs = [];
    this.rows = [];
    this.causes = [];
    this.plugins = [];
    this.trouble = '';
    this.signedOut = false;
    this.from = 0;
    this.at = 0;
    this.loading = true;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.query = filtersOf(location.search);
    addEventListener('popstate', () => this.show(filtersOf(location.search)));
    addEventListener('resize', () => this.requestUpdate()); // the height of a row depends on the width
    document.addEventListener('visibilitychange', () => { if (!document.hidden) { void this.look(); } });
    document.addEventListener('keydown', (e) => this.key(e));
    this.addEventListener('answered', () => void this.look());
    void this.look();
  }

  /** Shows the runs for other filters, and puts these into the address. */
  private filter(change: RunQuery, typed = false): void {
    const query = { ...this.query, ...change };
    history[typed ? 'replaceState' : 'pushState'](null, '', addressOf(query));
    this.show(filtersOf(location.search));
  }

  private show(query: RunQuery): void {
    this.query = query;
    this.runs = [];
    this.rows = [];
    this.next = undefined;
    this.from = this.at = 0;
    this.loading = true;
    void this.look();
  }

  /** Fetches the newest page and what waits for a person; older pages are not fetched again. */
  private async look(): Promise<void> {
    clearTimeout(this.looking);
    const asked = ++this.asked;
    try {
      const [page, causes, providers, plugins] = await Promise.all([
        this.client.runs({ ...this.query, limit: PAGE }), this.client.causes(), this.client.providers(), this.client.plugins(),
      ]);
      if (asked !== this.asked) {
        return;
      }
      const seen = new Set(page.runs.map((run) => run.id));
      const older = this.runs.length > PAGE ? this.runs.slice(PAGE).filter((run) => !seen.has(run.id)) : [];
      const focused = this.rows[this.at]?.key;
      this.runs = [...page.runs, ...older];
      this.rows = rowsOf(this.runs, this.query.label);
      this.at = Math.max(0, this.rows.findIndex((row) => row.key === focused));
      this.next = older.length ? this.next : page.next;
      void this.fill();
      Object.assign(this, { causes, providers, plugins, trouble: '', signedOut: false, loading: false });
    } catch (error) {
      if (asked !== this.asked) {
        return;
      }
      this.signedOut = error instanceof Problem && error.status === 401;
      this.trouble = this.signedOut ? '' : explain(error);
      this.loading = false;
    }
    if (!document.hidden && !this.signedOut) {
      this.looking = setTimeout(() => void this.look(), LOOK_MS);
    }
  }

  /** Fetches the next page at the end of the list. */
  private async more(): Promise<void> {
    const before = this.next;
    if (!before) {
      return;
    }
    this.next = undefined;
    const { query } = this;
    try {
      const page = await this.client.runs({ ...query, limit: PAGE, before });
      if (query === this.query) {
        const seen = new Set(this.runs.map((run) => run.id));
        this.runs = [...this.runs, ...page.runs.filter((run) => !seen.has(run.id))];
        this.rows = rowsOf(this.runs, query.label);
        this.next = page.next;
      }
    } catch {
      this.next ??= before; // the next refresh shows the error
    }
  }

  /** Fetches more pages while the runs so far fill fewer rows than fit on the screen. */
  private async fill(): Promise<void> {
    const { query } = this;
    for (let pages = 0; pages < MOST_PAGES && this.rows.length < ROOM && this.runs.length > this.rows.length && this.next && query === this.query; pages++) {
      await this.more();
    }
  }

  private row(): number {
    return !matchMedia('(max-width: 760px)').matches ? ROW : this.labelled() ? LABELLED_ROW : NARROW_ROW;
  }

  private labelled(): boolean {
    return this.rows.some(({ run }) => labelsOf(run).length > 0);
  }

  private scrolled(e: Event): void {
    const list = e.currentTarget as HTMLElement;
    this.from = Math.max(0, Math.floor(list.scrollTop / this.row()) - 10);
    if (list.scrollHeight - list.scrollTop - list.clientHeight < 20 * this.row()) {
      void this.more();
    }
  }

  /** j and k or the up and down keys go through the rows, left and right through what a row can be filtered by, / goes to the search, Enter opens. */
  private key(e: KeyboardEvent): void {
    const typing = e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement;
    if (e.altKey || e.ctrlKey || e.metaKey) {
      return;
    }
    if (e.key === '/' && !typing) {
      e.preventDefault();
      this.querySelector<HTMLInputElement>('input[type=search]')?.focus();
      return;
    }
    const inList = e.target instanceof Element && e.target.closest('.rows') !== null;
    const step = e.key === 'j' || (e.key === 'ArrowDown' && inList) ? 1 : e.key === 'k' || (e.key === 'ArrowUp' && inList) ? -1 : 0;
    if (step && !typing && this.rows.length) {
      e.preventDefault();
      void this.focusRow(inList ? this.at + step : this.at);
    }
    const aside = e.key === 'ArrowRight' ? 1 : e.key === 'ArrowLeft' ? -1 : 0;
    if (aside && inList) { // to what the row's words filter by
      const words = [...((e.target as Element).closest('.row')?.querySelectorAll<HTMLElement>('a, button') ?? [])].filter((word) => word.checkVisibility());
      words[words.indexOf(e.target as HTMLElement) + aside]?.focus();
      e.preventDefault();
    }
  }

  private async focusRow(at: number): Promise<void> {
    this.at = Math.min(Math.max(0, at), this.rows.length - 1);
    const list = this.querySelector<HTMLElement>('.rows');
    const top = this.at * this.row();
    if (list && (top < list.scrollTop || top + this.row() > list.scrollTop + list.clientHeight)) {
      list.scrollTop = Math.max(0, top - list.clientHeight / 2);
      this.from = Math.max(0, Math.floor(list.scrollTop / this.row()) - 10);
    }
    await this.updateComplete;
    this.querySelector<HTMLElement>(`[data-at="${this.at}"]`)?.focus();
  }

  protected override updated(): void {
    const rows = this.querySelector<HTMLElement>('.all');
    if (rows) { // the page's policy forbids inline styles, but not properties
      const list = rows.parentElement!;
      const before = this.height;
      this.height = this.row();
      rows.style.height = `${this.rows.length * this.height}px`;
      if (before && before !== this.height) { // the same rows stay in sight
        list.scrollTop *= this.height / before;
      }
      rows.querySelector<HTMLElement>('.shown')!.style.transform = `translateY(${this.from * this.row()}px)`;
    }
  }

  protected override render(): TemplateResult {
    if (this.signedOut) {
      return html`<main class="signin"><h1>Mulligan</h1><p>You are signed out. <code>mulligan login</code> prints a link; then come back here.</p><a href="/">To the sign-in page</a></main>`;
    }
    return html`
      <a class="skip" href="#runs">To the runs</a>
      <header class="top">
        <span class="brand"><img src="icon.svg" alt="" width="20" height="20">Mulligan</span>
        <nav aria-label="Pages"><a href="/">Chat</a><a href="/runs" aria-current="page">Runs</a></nav>
        <span class="grow"></span>
        <span class="meta wide"><kbd>/</kbd> search <kbd>j</kbd> <kbd>k</kbd> rows <kbd>→</kbd> filters <kbd>Enter</kbd> open</span>
      </header>
      ${this.trouble ? html`<p class="banner" role="alert">${this.trouble}</p>` : nothing}
      <main class="board">
        <h1 class="sr">Runs</h1>
        <mulligan-needs .client=${this.client} .causes=${this.causes}></mulligan-needs>
        ${this.drawFilters()}
        ${this.drawTable()}
        <div class="below">${providersTable(this.providers)}<mulligan-plugins .client=${this.client} .plugins=${this.plugins}></mulligan-plugins></div>
      </main>`;
  }

  private drawFilters(): TemplateResult {
    const q = this.query;
    const on = (query: RunQuery) => (query.needsYou ?? false) === (q.needsYou ?? false) && query.status === q.status;
    return html`<form class="filters" role="search" aria-label="Filter runs" @submit=${(e: Event) => e.preventDefault()}>
      <input type="search" placeholder="Search titles and failures" aria-label="Search titles and failures" maxlength="200" .value=${q.text ?? ''}
        @input=${(e: Event) => this.typed((e.target as HTMLInputElement).value)}>
      <div class="states" role="group" aria-label="State">${STATES.map(([name, query]) => html`<button type="button" aria-pressed=${on(query)}
        @click=${() => this.filter({ needsYou: false, status: undefined as never, ...query })}>${name}</button>`)}</div>
      <select aria-label="When" @change=${(e: Event) => this.filter({ since: (e.target as HTMLSelectElement).value })}>
        ${TIMES.map(([value, name]) => html`<option value=${value} ?selected=${(q.since ?? '') === value}>${name}</option>`)}
      </select>
      ${this.chips()}
    </form>`;
  }

  /** Filters that were set by clicking on words in a row. */
  private chips(): TemplateResult[] {
    const q = this.query;
    const set = ([['kind', q.kind], ['model', q.model], ['decidedBy', q.decidedBy], ['session', q.session], ['label', q.label?.join(', ')]] as const).filter(([, value]) => value);
    return set.map(([name, value]) => html`<button type="button" class="chip" data-by=${name} aria-label=${`Remove the filter ${value}`}
      @click=${() => void this.unfilter({ [name]: undefined })}>${value} ×</button>`);
  }

  /** Removes a filter, and its chip with it; the focus goes to the next chip or, if there is none, to the state. */
  private async unfilter(change: RunQuery): Promise<void> {
    this.filter(change);
    await this.updateComplete;
    this.querySelector<HTMLElement>('.chip, .states [aria-pressed=true]')?.focus();
  }

  /** Filters by a word of a row. The rows are drawn anew, so the focus goes to what removes the filter. */
  private async byWord(change: RunQuery): Promise<void> {
    this.filter(change);
    await this.updateComplete;
    this.querySelector<HTMLElement>(`.chip[data-by="${Object.keys(change)[0]}"]`)?.focus();
  }

  private typed(text: string): void {
    clearTimeout(this.typing);
    this.typing = setTimeout(() => this.filter({ text }, true), 200);
  }

  private drawTable(): TemplateResult {
    const shown = this.rows.slice(this.from, this.from + 60);
    const empty = this.loading ? 'Looking…' : addressOf(this.query) === location.pathname ? 'No runs yet. Ask something in the chat.' : 'No run is like that.';
    return html`<div class=${this.labelled() ? 'table labelled' : 'table'} id="runs" role="table" aria-label="Runs" aria-rowcount=${this.next ? -1 : this.rows.length + 1} aria-busy=${this.loading}>
      <div role="rowgroup"><div class="head" role="row">${['State', 'Run', 'Failure', 'Decided by', 'Attempts', 'Took', 'Cost', 'When'].map((name) => html`<span role="columnheader">${name}</span>`)}</div></div>
      <div class="rows" role="rowgroup" @scroll=${(e: Event) => this.scrolled(e)}>
        ${this.rows.length ? html`<div class="all" role="presentation"><div class="shown" role="presentation">${repeat(shown, (row) => row.key, (row, i) => this.drawRow(row, this.from + i))}</div></div>`
          : html`<div role="row"><p class="empty" role="cell">${empty}</p></div>`}
      </div>
    </div>`;
  }

  private drawLabels(run: Listed): TemplateResult | typeof nothing {
    const labels = labelsOf(run);
    return labels.length === 0 ? nothing : html`<span class="labels" title=${labels.join('\n')}>${labels.map((label) => html`<button type="button" class="word" tabindex="-1"
      @click=${() => void this.byWord({ label: [...new Set([...(this.query.label ?? []), label])] })}>${label}</button>`)}</span>`;
  }

  private drawRow({ run, more }: Row, at: number): TemplateResult {
    const { word, mark } = standing(run);
    const problem = run.problem?.split('\n')[0] || run.kind;
    const took = (run.status === 'running' ? Date.now() : Date.parse(run.updatedAt)) - Date.parse(run.startedAt);
    return html`<div class="row" role="row" aria-rowindex=${at + 2}>
      <span role="cell" class="state"><span class=${mark} aria-hidden="true"></span>${word}</span>
      <span role="cell" class="name"><a data-at=${at} tabindex=${at === this.at ? 0 : -1} href=${`/runs/${run.id}`}
        @focus=${() => { this.at = at; }}>${run.title || run.id}</a><span class="meta">${modelName(run.model)}</span>
        ${more ? html`<button type="button" class="word folded" tabindex="-1" title="All calls of this conversation" @click=${() => void this.byWord({ label: [...(this.query.label ?? []), conversationOf(run)] })}>and ${more} earlier</button>` : nothing}
        ${this.drawLabels(run)}</span>
      <span role="cell" class="problem">${problem ? !run.kind || run.approval ? problem : html`<button type="button" class="word" tabindex="-1" title=${run.problem ?? ''} @click=${() => void this.byWord({ kind: run.kind! })}>${problem}</button>` : html`<span class="none">–</span>`}</span>
      <span role="cell" class="by">${run.decidedBy ? html`<button type="button" class="word" tabindex="-1" @click=${() => void this.byWord({ decidedBy: run.decidedBy! })}>${run.decidedBy}</button>` : html`<span class="none">–</span>`}</span>
      <span role="cell" class="number">${run.attempts}${run.failedAttempts ? html` <span class="meta">(${run.failedAttempts} failed)</span>` : nothing}</span>
      <span role="cell" class="number took">${lasting(took)}</span>
      <span role="cell" class="number cost">${cost(run)}${wasted(run) ? html` <span class="meta">${wasted(run)}</span>` : nothing}</span>
      <span role="cell" class="number when">${moment(run.startedAt)}</span>
    </div>`;
  }
}
customElements.define('mulligan-runs', Runs);
applyTheme();
