import { modelName, type Client, type Keys, type KeyProvider, type KeyTried, type LocalServer } from '@mulligan-run/client';
import { html, LitElement, nothing, type TemplateResult } from 'lit';

import { explain, sentence } from './conversation.js';
import { copyText } from './copy.js';
import { failureDetails, linked } from './words.js';

/** The event by which one of them tells the others that it has changed something. */
const CHANGED = 'mulligan-keys';

/** The longest key, in characters. */
const MAX_KEY = 4096;

/**
 * Sets up a model: with a provider's key, which is pasted or put into the environment, or with a model on this computer. It sends the
 * event "keys" when a key has changed, and "local" with the chosen model of this computer. After a key is sent, the page does not keep it.
 */
export class Setup extends LitElement {
  static override properties = {
    client: { attribute: false }, playing: { type: Boolean }, plain: { type: Boolean }, keys: { state: true }, chosen: { state: true }, busy: { state: true }, trouble: { state: true },
    tried: { state: true }, copied: { state: true }, typed: { state: true }, removing: { state: true },
  };
  declare client: Client;
  /** The fault lab can be used meanwhile. */
  declare playing: boolean;
  /** It is below a heading and shows only keys, without changing the conversation. */
  declare plain: boolean;
  declare keys: Keys | undefined;
  declare chosen: string;
  declare busy: '' | 'keeping' | 'trying' | 'removing';
  declare trouble: string;
  declare tried: KeyTried | undefined;
  declare copied: boolean;
  declare typed: boolean;
  declare removing: boolean;

  constructor() {
    super();
    this.playing = false;
    this.plain = false;
    this.chosen = '';
    this.busy = '';
    this.trouble = '';
    this.copied = false;
    this.typed = false;
    this.removing = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    addEventListener(CHANGED, this.look);
    void this.look();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    removeEventListener(CHANGED, this.look);
  }

  private readonly look = async (): Promise<void> => {
    try {
      this.keys = await this.client.keys();
      this.chosen ||= (this.local[0] ?? this.keys.providers.find((p) => p.from) ?? this.keys.providers[0])?.name ?? '';
    } catch (error) {
      this.trouble = explain(error);
    }
  };

  /** Does something with the chosen provider, and shows what went wrong. */
  private async act(busy: Setup['busy'], what: (provider: string) => Promise<void>): Promise<void> {
    if (this.busy) {
      return;
    }
    this.busy = busy;
    this.trouble = '';
    this.tried = undefined;
    this.removing = false;
    try {
      await what(this.chosen);
    } catch (error) {
      this.trouble = explain(error);
    }
    this.busy = '';
  }

  private readonly keep = (e: Event): void => {
    e.preventDefault();
    const field = this.querySelector<HTMLInputElement>('input[type=password]');
    const key = field?.value.trim() ?? '';
    if (!field || !key) {
      return;
    }
    void this.act('keeping', async (provider) => {
      await this.client.keepKey(provider, key);
      field.value = '';
      this.typed = false;
      await this.look();
      this.busy = 'trying';
      await this.test(provider);
    });
  };

  private async test(provider: string): Promise<void> {
    if (this.keys?.providers.find((p) => p.name === provider)?.model) {
      this.tried = await this.client.tryKey(provider);
    }
    this.tell();
  }

  private async forget(provider: string): Promise<void> {
    await this.client.forgetKey(provider);
    await this.look();
    this.tell();
  }

  private tell(): void {
    this.dispatchEvent(new CustomEvent('keys', { bubbles: true }));
    dispatchEvent(new Event(CHANGED));
  }

  private choose(name: string): void {
    Object.assign(this, { chosen: name, tried: undefined, trouble: '', copied: false, typed: false, removing: false });
  }

  protected override render(): TemplateResult {
    const { keys } = this;
    const provider = keys?.providers.find((p) => p.name === this.chosen);
    const server = this.local.find((s) => s.name === this.chosen);
    const head = this.playing ? 'To ask a real model' : 'Choose who answers';
    return html`
      ${this.plain ? nothing : html`<h3>${head}</h3>`}
      ${keys?.problem ? html`<p class="warning" role="alert"><span class="square bad" aria-hidden="true"></span><span>${keys.problem}</span></p>` : nothing}
      ${keys && !keys.keeps ? html`<p class="help">Put a provider's key where <code>mulligan serve</code> reads it, and start it again: <code>ANTHROPIC_API_KEY=… mulligan serve</code>. <code>OPENAI_API_KEY</code>,
        <code>GEMINI_API_KEY</code> and <code>OPENROUTER_API_KEY</code> work as well.</p>` : nothing}
      ${keys?.keeps ? html`<div class="who" role="radiogroup" aria-label="Provider">
        ${[...this.local, ...keys.providers].map((p) => html`<label class="one"><input type="radio" name=${this.plain ? 'whose' : 'who'} .checked=${this.chosen === p.name} @change=${() => this.choose(p.name)}><span>${p.title}</span></label>`)}
      </div>` : nothing}
      ${server ? this.server(server) : provider ? this.provider(provider) : nothing}
      ${this.trouble ? html`<p class="warning" role="alert"><span class="square bad" aria-hidden="true"></span><span>${this.trouble}</span></p>` : nothing}`;
  }

  private get local(): LocalServer[] {
    return this.plain ? [] : this.keys?.local ?? [];
  }

  private server(server: LocalServer): TemplateResult {
    return html`
      <p class="help">${server.title} runs on this computer, and needs no key.</p>
      <div class="buttons">${server.models.map((model, i) => html`<button type="button" class=${i === 0 ? 'primary' : ''}
        @click=${() => this.dispatchEvent(new CustomEvent('local', { bubbles: true, detail: model }))}>Use ${modelName(model)}</button>`)}</div>`;
  }

  private provider(p: KeyProvider): TemplateResult {
    const command = `export ${p.keyEnv}=`;
    const busy = this.busy !== '';
    const id = this.plain ? 'kept-key' : 'key';
    return html`
      ${p.from ? html`
        <p class="help"><span class=${this.tried && !this.tried.answered ? 'dot quiet' : 'dot good'} aria-hidden="true"></span>${p.from === 'environment' ? html`<code>${p.keyEnv}</code> is set where Mulligan was started.` : 'A key is kept on this computer.'}
          ${p.from === 'environment' && p.kept ? 'The one that is kept here does not count.' : nothing}</p>
        <div class="buttons">
          ${p.model ? html`<button type="button" ?disabled=${busy} @click=${() => void this.act('trying', (name) => this.test(name))}>Test</button>` : nothing}
          ${p.kept ? this.remover(busy) : nothing}
        </div>` : nothing}
      ${p.from === 'environment' ? nothing : html`
        <form @submit=${this.keep}>
          <label for=${id}>${p.kept ? 'Replace it' : `${p.title} API key`}</label>
          <div class="paste">
            <input id=${id} type="password" autocomplete="off" spellcheck="false" maxlength=${MAX_KEY} aria-describedby=${`${id}-help`} ?disabled=${busy} @input=${(e: Event) => { this.typed = (e.target as HTMLInputElement).value.trim() !== ''; }}>
            <button ?disabled=${busy || !this.typed}>Keep and test</button>
          </div>
          <p class="meta" id=${`${id}-help`}>It stays on this computer, in ${this.keys?.keyring ? 'the keyring of your system' : 'a file that only you can read'}.${p.page ? html` <a href=${p.page} target="_blank" rel="noopener noreferrer">Make a key</a>` : nothing}</p>
        </form>`}
      <div role="status">${this.outcome()}</div>
      ${p.from ? nothing : html`
        <details class="more"><summary>Or set it yourself</summary>
          <p class="help">Stop Mulligan, and start it again in a terminal that has the key:</p>
          <p class="command"><code>${command}…</code><button type="button" class="link" @click=${() => void this.copy(command)}>${this.copied ? 'Copied' : 'Copy'}</button></p>
        </details>`}`;
  }

  private remover(busy: boolean): TemplateResult {
    return this.removing ? html`
      <button type="button" class="primary" ?disabled=${busy} @click=${() => void this.act('removing', (name) => this.forget(name))}>Remove the key from this computer</button>
      <button type="button" class="last" @click=${() => { this.removing = false; }}>Keep it</button>` : html`
      <button type="button" class="last" ?disabled=${busy} @click=${() => { this.removing = true; }}>Remove…</button>`;
  }

  private outcome(): TemplateResult | typeof nothing {
    const { tried } = this;
    if (this.busy === 'keeping' || this.busy === 'trying') {
      return html`<p class="line"><span class="dot busy pulse" aria-hidden="true"></span>${this.busy === 'keeping' ? 'Keeping the key…' : 'Asking for one word…'}</p>`;
    }
    if (!tried) {
      return nothing;
    }
    if (tried.answered) {
      return html`<p class="line"><span class="dot good" aria-hidden="true"></span>${modelName(tried.model)} answered in ${(tried.ms / 1000).toFixed(1)} s.</p>`;
    }
    const f = tried.failure;
    return f ? html`
      <p class="line"><span class="square bad" aria-hidden="true"></span><strong>${sentence(f.title)}</strong></p>
      <p class="help">${linked(f, f.message)}</p>
      <details class="more"><summary>Details</summary>${failureDetails(f)}</details>` : nothing;
  }

  private async copy(command: string): Promise<void> {
    await copyText(command);
    this.copied = true;
  }
}

customElements.define('mulligan-setup', Setup);

/** The same behind a button, to test, replace or remove a key later. */
class KeysButton extends LitElement {
  static override properties = { client: { attribute: false }, open: { state: true } };
  declare client: Client;
  declare open: boolean;

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    return html`
      <button class="link quiet" aria-haspopup="dialog" @click=${() => void this.show()}>API keys</button>
      <dialog class="keys" aria-labelledby="keys-title" @close=${() => { this.open = false; }}>
        <header><h2 id="keys-title">API keys</h2><form method="dialog"><button class="icon" aria-label="Close">×</button></form></header>
        <div class="body">${this.open ? html`<mulligan-setup plain .client=${this.client}></mulligan-setup>` : nothing}</div>
      </dialog>`;
  }

  private async show(): Promise<void> {
    this.open = true;
    await this.updateComplete;
    this.querySelector('dialog')?.showModal();
  }
}

customElements.define('mulligan-keys', KeysButton);
