import type { Client, Plugin } from '@mulligan-run/client';
import { html, LitElement, nothing, type TemplateResult } from 'lit';

import { explain } from './conversation.js';
import { moment, seconds } from './figures.js';

type Act = 'restart' | 'disable' | 'enable';

const DONE: Record<Act, string> = { restart: 'was started anew', disable: 'is disabled: it has no vote until it is enabled', enable: 'is enabled' };

/** How the plugins perform, and what a person may do about one. */
export class Plugins extends LitElement {
  static override properties = { plugins: { attribute: false }, asked: { state: true }, busy: { state: true }, said: { state: true } };
  declare client: Client;
  declare plugins: Plugin[];
  /** The plugin that will be disabled if the person confirms. */
  declare asked: string;
  declare busy: string;
  declare said: { name: string; text: string; bad: boolean } | undefined;

  constructor() {
    super();
    this.plugins = [];
    this.asked = this.busy = '';
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  private async act(name: string, act: Act): Promise<void> {
    this.busy = name;
    this.asked = '';
    this.said = undefined;
    try {
      const now = await this.client.actOnPlugin(name, act);
      this.plugins = this.plugins.map((p) => (p.name === name ? now : p));
      this.said = { name, text: now.state === 'disabled' || now.state === 'ready' ? DONE[act] : `is ${now.state}${now.lastError ? `: ${now.lastError}` : ''}`, bad: false };
    } catch (error) {
      this.said = { name, text: explain(error), bad: true };
    }
    this.busy = '';
    await this.updateComplete;
    this.querySelector<HTMLElement>(`[data-plugin="${CSS.escape(name)}"] .buttons button`)?.focus();
  }

  private async ask(name: string): Promise<void> {
    this.asked = name;
    await this.updateComplete;
    this.querySelector<HTMLElement>('.sure button')?.focus();
  }

  /** Takes back the question whether to disable a plugin; the focus goes back to the button that asked it. */
  private async keep(name: string): Promise<void> {
    this.asked = '';
    await this.updateComplete;
    this.querySelector<HTMLElement>(`[data-plugin="${CSS.escape(name)}"] .buttons button:last-of-type`)?.focus();
  }

  protected override render(): TemplateResult {
    return html`<section class="figured" aria-labelledby="plugins">
      <div class="heading"><h2 id="plugins">Plugins</h2></div>
      ${this.plugins.length ? html`<ul class="sheet plugins">${this.plugins.map((p) => this.row(p))}</ul>` : html`<p class="meta">None: nothing is repeated by itself.</p>`}
    </section>`;
  }

  private row(p: Plugin): TemplateResult {
    const mark = p.state === 'ready' ? 'dot good' : p.state === 'starting' ? 'ring' : p.state === 'disabled' || p.state === 'stopped' ? 'square quiet' : 'square bad';
    return html`<li data-plugin=${p.name}><details>
      <summary>
        <span class=${mark} aria-hidden="true"></span>
        <span class="name">${p.name} <span class="meta">${[p.version, p.pinned ? 'pinned' : '', p.shadow ? 'on trial' : ''].filter(Boolean).join(' · ')}</span></span>
        <span class="state">${p.state}</span>
        <span class="meta votes">${votes(p)}</span>
        <span class="meta fast">${p.p99Ms ? html`p50 ${seconds(p.p50Ms ?? 0)} · p99 ${seconds(p.p99Ms)}` : nothing}</span>
        <span class="open" aria-hidden="true"></span>
      </summary>
      <div class="inside">
        ${p.disabled ? html`<p>Disabled by ${p.disabled.by}, ${moment(p.disabled.at)}. It has no vote until it is enabled, or the gateway begins anew.</p>` : nothing}
        ${this.facts(p)}
        ${p.said?.length ? html`<h3>What it wrote last</h3><pre class="raw" tabindex="0" aria-label="What ${p.name} wrote last to standard error">${p.said.join('\n')}</pre>` : html`<p class="meta">It has written nothing to standard error.</p>`}
        ${this.asked === p.name ? this.sure(p) : this.buttons(p)}
        <p class="outcome ${this.said?.bad ? 'bad' : ''}" role="status">${this.said?.name === p.name ? `${p.name} ${this.said.bad ? 'stays as it was: ' : ''}${this.said.text}` : ''}</p>
      </div>
    </details></li>`;
  }

  private facts(p: Plugin): TemplateResult {
    const v = p.votes;
    const list: [string, string | number | undefined | false][] = [
      ['Restarts', p.restarts], ['Last error', p.lastError],
      ['No opinion', v?.silent], ['No answer', v?.failed], ['Said the same as the winner', v?.agreed], ['Counted since', v && moment(v.since)],
    ];
    const known = list.filter(([, value]) => value);
    return known.length ? html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>` : html``;
  }

  private buttons(p: Plugin): TemplateResult {
    const off = p.state === 'disabled';
    return html`<div class="buttons">
      ${off ? html`<button type="button" ?disabled=${this.busy !== ''} @click=${() => this.act(p.name, 'enable')}>Enable</button>`
        : html`<button type="button" ?disabled=${this.busy !== ''} @click=${() => this.act(p.name, 'restart')}>Restart</button>
          ${p.failClosed ? html`<p class="meta">No model call begins without its answer, so that it cannot be disabled here.</p>`
            : html`<button type="button" ?disabled=${this.busy !== ''} @click=${() => this.ask(p.name)}>Disable…</button>`}`}
      ${this.busy === p.name ? html`<span class="meta">At it…</span>` : nothing}
    </div>`;
  }

  private sure(p: Plugin): TemplateResult {
    return html`<div class="sure" @keydown=${(e: KeyboardEvent) => { if (e.key === 'Escape') { void this.keep(p.name); } }}>
      <p>From now on ${p.name} has no vote, in runs under way as in new ones, until it is enabled or the gateway begins anew.</p>
      <div class="buttons"><button type="button" @click=${() => this.act(p.name, 'disable')}>Disable ${p.name}</button>
        <button type="button" @click=${() => void this.keep(p.name)}>Keep it</button></div>
    </div>`;
  }
}
customElements.define('mulligan-plugins', Plugins);

function votes(p: Plugin): string {
  const v = p.votes;
  if (!v) {
    return 'not asked yet';
  }
  if (p.shadow) {
    return `agreed ${v.trialAgreed} times · disagreed ${v.trialDisagreed}`;
  }
  return `${v.won} won · ${v.overruled} overruled`;
}
