import { Client, modelName, Problem, type Rescue, type Span } from '@mulligan-run/client';
import { html, LitElement, nothing, type TemplateResult } from 'lit';

import { explain } from './conversation.js';
import { moment } from './figures.js';
import { over, Scale } from './scale.js';
import { applyTheme } from './settings.js';
import { share, sharedRescue } from './share.js';
import { waterfall } from './waterfall.js';
import './whatif.js';
import { took } from './words.js';

/** How often a run's history is fetched at most, and how often an open span grows, in milliseconds. */
const ANEW_MS = 700;
const TICK_MS = 500;

/** How long replaying a whole run takes, in milliseconds, and the steps of the scrubber. */
const PLAY_MS = 10_000;
const STEPS = 1000;

/** The smallest part of a chart that can be shown. */
const MOST_ZOOM = 0.002;

const standings: Record<Rescue['status'], [string, string]> = {
  running: ['Running', 'dot busy'], waiting: ['Waiting', 'ring'], completed: ['Completed', 'dot good'], failed: ['Failed', 'square bad'], cancelled: ['Stopped', 'square quiet'],
};

/** A run's history, or the run live while it is in progress. */
class RescuePage extends LitElement {
  static override properties = {
    run: { state: true }, trouble: { state: true }, missing: { state: true }, signedOut: { state: true }, from: { state: true }, to: { state: true }, step: { state: true },
    playing: { state: true }, at: { state: true }, opened: { state: true },
  };
  declare run: Rescue | undefined;
  declare trouble: string;
  declare missing: boolean;
  declare signedOut: boolean;
  /** The visible part of the chart, from 0 to 1. */
  declare from: number;
  declare to: number;
  /** Up to where the run is shown, in steps of the scrubber. */
  declare step: number;
  declare playing: boolean;
  declare at: number;
  declare opened: Set<number>;
  private readonly shared = sharedRescue();
  private readonly client = new Client();
  private readonly name = this.shared?.run ?? location.pathname.split('/')[2] ?? '';
  private scale = new Scale([], 1);
  private anew: ReturnType<typeof setTimeout> | undefined;
  private frame = 0;

  constructor() {
    super();
    this.trouble = '';
    this.missing = this.signedOut = this.playing = false;
    this.from = this.at = 0;
    this.to = 1;
    this.step = STEPS;
    this.opened = new Set();
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    document.addEventListener('keydown', (e) => this.key(e));
    addEventListener('resize', () => this.requestUpdate());
    if (this.shared) {
      this.take(this.shared);
      return;
    }
    void this.load().then(() => this.follow());
  }

  private take(run: Rescue): void {
    this.run = run;
    document.title = `${run.headline} · Mulligan`;
  }

  private async load(): Promise<void> {
    clearTimeout(this.anew);
    this.anew = undefined;
    try {
      this.take(await this.client.rescue(this.name, true));
      this.trouble = '';
    } catch (error) {
      const status = error instanceof Problem ? error.status : 0;
      this.signedOut = status === 401;
      this.missing = status === 404 || status === 422;
      this.trouble = this.signedOut || this.missing ? '' : explain(error);
    }
  }

  /** Fetches the history again whenever something happens, until the run is over. */
  private async follow(): Promise<void> {
    if (!this.run) {
      if (!this.missing && !this.signedOut) {
        setTimeout(() => void this.load().then(() => this.follow()), 4 * ANEW_MS);
      }
      return;
    }
    if (this.run.over) {
      return;
    }
    const ticking = setInterval(() => this.requestUpdate(), TICK_MS);
    try {
      for await (const item of this.client.follow(this.name, { after: this.run.seq })) {
        if ('event' in item) {
          this.anew ??= setTimeout(() => void this.load(), ANEW_MS);
        }
      }
      await this.load();
    } catch (error) {
      this.trouble = explain(error);
    }
    clearInterval(ticking);
  }

  /** Arrow keys go through the rows, + and - zoom, 0 shows all, left and right move, p plays. */
  private key(e: KeyboardEvent): void {
    const target = e.target as HTMLElement;
    if (e.altKey || e.ctrlKey || e.metaKey || !this.run || target.closest('input, pre, select, textarea')) {
      return;
    }
    const inRows = target.closest('.bar') !== null;
    switch (e.key) {
      case '+': case '=': this.zoom(0.5); break;
      case '-': this.zoom(2); break;
      case '0': this.window(0, 1); break;
      case 'j': this.go(inRows ? 1 : 0); break;
      case 'k': this.go(inRows ? -1 : 0); break;
      case 'p': this.play(); break;
      case 'ArrowDown': case 'ArrowUp':
        if (!inRows) {
          return;
        }
        this.go(e.key === 'ArrowDown' ? 1 : -1);
        break;
      case 'ArrowLeft': case 'ArrowRight': {
        if (!inRows) {
          return;
        }
        const by = (this.to - this.from) * (e.key === 'ArrowRight' ? 0.2 : -0.2);
        this.window(this.from + by, this.to + by);
        break;
      }
      default: return;
    }
    e.preventDefault();
  }

  private go(by: number): void {
    this.at = Math.min(Math.max(0, this.at + by), (this.run?.spans.length ?? 1) - 1);
    const bar = this.querySelector<HTMLElement>(`[data-at="${this.at}"]`);
    bar?.focus();
  }

  /** Shows more or less of the chart, around the selected row. */
  private zoom(by: number): void {
    const s = this.run?.spans[this.at];
    const wide = Math.min(1, Math.max(MOST_ZOOM, (this.to - this.from) * by));
    const here = s && this.opened.size + this.at > 0 ? this.scale.place((s.from + over(s, this.scale.end)) / 2) : (this.from + this.to) / 2;
    this.window(here - wide / 2, here + wide / 2);
  }

  private window(from: number, to: number): void {
    const wide = Math.min(1, to - from);
    this.from = Math.min(Math.max(0, from), 1 - wide);
    this.to = this.from + wide;
  }

  private readonly toggle = (s: Span): void => {
    const opened = new Set(this.opened);
    if (!opened.delete(s.seq)) {
      opened.add(s.seq);
    }
    this.opened = opened;
  };

  private readonly focusAt = (at: number): void => { this.at = at; };

  /** Replays the run in its own rhythm, with long waits shortened. */
  private play(): void {
    cancelAnimationFrame(this.frame);
    this.playing = !this.playing;
    if (!this.playing) {
      return;
    }
    const begin = this.step >= STEPS ? 0 : this.step;
    const start = performance.now();
    const on = (now: number): void => {
      this.step = Math.min(STEPS, begin + ((now - start) / PLAY_MS) * STEPS);
      this.playing = this.step < STEPS;
      if (this.playing) {
        this.frame = requestAnimationFrame(on);
      }
    };
    this.frame = requestAnimationFrame(on);
  }

  protected override render(): TemplateResult {
    return html`
      <header class="top">
        <span class="brand">${this.shared ? nothing : html`<img src="/icon.svg" alt="" width="20" height="20">`}Mulligan</span>
        ${this.shared ? nothing : html`<nav aria-label="Pages"><a href="/">Chat</a><a href="/runs">Runs</a></nav>`}
        <span class="grow"></span>
        <span class="meta wide"><kbd>j</kbd> <kbd>k</kbd> rows <kbd>Enter</kbd> open <kbd>+</kbd> <kbd>-</kbd> <kbd>0</kbd> zoom <kbd>p</kbd> play</span>
      </header>
      ${this.trouble ? html`<p class="banner" role="alert">${this.trouble}</p>` : nothing}
      <main class="board rescue">${this.body()}</main>`;
  }

  private body(): TemplateResult {
    if (this.signedOut) {
      return html`<h1>You are signed out</h1><p><code>mulligan login</code> prints a link; then come back here. <a href="/">To the sign-in page</a></p>`;
    }
    if (this.missing) {
      return html`<h1>There is no such run</h1><p>Nothing is known of <code>${this.name.slice(0, 80)}</code>: it was deleted, or its address is not complete. <a href="/runs">To all runs</a></p>`;
    }
    const run = this.run;
    if (!run) {
      return html`<h1 class="sr">A run</h1><p class="meta" role="status">${this.trouble ? '' : 'Looking…'}</p>`;
    }
    const lived = Date.parse(run.updatedAt) - Date.parse(run.startedAt);
    const now = this.shared ? lived : this.client.now() - Date.parse(run.startedAt);
    this.scale = new Scale(run.spans, Math.max(1, run.over || run.needsYou && run.spans.every((s) => s.state !== 'open') ? lived : Math.max(lived, now)));
    const until = this.step >= STEPS ? this.scale.end : this.scale.time(this.step / STEPS);
    return html`
      ${this.head(run)}
      ${this.tools(run, until)}
      <section class="water" aria-labelledby="water">
        <h2 class="sr" id="water">What took how long</h2>
        ${run.spansLeftOut ? html`<p class="meta">The first ${run.spansLeftOut.toLocaleString('en-US')} stretches are left out.</p>` : nothing}
        ${run.spans.length ? waterfall({ run, scale: this.scale, from: this.from, to: this.to, until, open: this.opened, at: this.at, toggle: this.toggle, focus: this.focusAt }) : html`<p class="empty">Nothing has been asked yet.</p>`}
        ${this.scale.shortened.length ? html`<p class="meta">Shaded: time in which nothing but waiting was done, drawn shorter than it was.</p>` : nothing}
      </section>
      ${run.figures.failures && !this.shared ? html`<mulligan-what-if .client=${this.client} .run=${run}></mulligan-what-if>` : nothing}
      ${run.answer ? html`<section aria-labelledby="answer"><h2 id="answer">${run.status === 'completed' ? 'The answer' : 'What there is of an answer'}</h2><pre class="raw answer" tabindex="0" dir="auto">${run.answer}</pre></section>` : nothing}`;
  }

  private head(run: Rescue): TemplateResult {
    const [word, mark] = run.needsYou ? ['Needs you', 'square attention'] : standings[run.status];
    const f = run.figures;
    const money = f.used?.microdollars ? `$${(f.used.microdollars / 1e6).toFixed(f.used.microdollars < 10_000 ? 4 : 2)}` : undefined;
    const list = [['Took', took(f.tookMs)], ['Model calls', f.attempts], ['Failed', f.failedAttempts ?? 0], ['Tool calls', f.tools], ['Tokens', f.used?.tokens?.toLocaleString('en-US')],
      ['Wasted', f.wastedTokens?.toLocaleString('en-US')], ['Cost', money]].filter(([, value]) => value !== undefined);
    return html`
      <div class="headline">
        <p class="meta standing"><span class=${mark} aria-hidden="true"></span><span>${word} · ${moment(run.startedAt)} · ${modelName(run.chosenModel)}${run.model !== run.chosenModel ? ` → ${modelName(run.model)}` : ''}
          · ${run.autoRecover ? 'recovers automatically' : 'asks first'}</span></p>
        <h1 aria-live="polite">${run.headline.replace(/(\d) /g, '$1\u00a0')}</h1>
        <p class="title" dir="auto">${run.title}</p>
        ${this.shared ? nothing : html`<p><a href=${run.session ? `/#/s/${encodeURIComponent(run.session)}` : `/#/r/${run.run}`}>Open the conversation</a></p>`}
      </div>
      <dl class="figures">${list.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
  }

  private tools(run: Rescue, until: number): TemplateResult {
    const said = this.step < STEPS ? run.said?.findLast((line) => line.at <= until)?.text : undefined;
    return html`
      <div class="toolbar">
        <div class="scrub">
          <button type="button" class="tool" aria-pressed=${this.playing} @click=${() => this.play()}>${this.playing ? 'Pause' : 'Play'}</button>
          <input type="range" min="0" max=${STEPS} step="1" .value=${String(Math.round(this.step))} aria-label="Up to when it is told" aria-valuetext="after ${took(Math.round(until))}"
            @input=${(e: Event) => { this.playing = false; cancelAnimationFrame(this.frame); this.step = Number((e.target as HTMLInputElement).value); }}>
          <span class="clock">${took(Math.round(until))}</span>
        </div>
        <div class="zoom" role="group" aria-label="Zoom">
          <button type="button" class="tool" aria-label="Zoom out" @click=${() => this.zoom(2)} ?disabled=${this.to - this.from >= 1}>−</button>
          <button type="button" class="tool" aria-label="Zoom in" @click=${() => this.zoom(0.5)}>+</button>
          <button type="button" class="tool" @click=${() => this.window(0, 1)} ?disabled=${this.to - this.from >= 1}>All</button>
        </div>
        ${this.shared ? nothing : share(run, this.client, (text) => { this.trouble = text; })}
      </div>
      <p class="said" role="status">${said ?? ''}</p>`;
  }
}
customElements.define('mulligan-rescue', RescuePage);
applyTheme();
