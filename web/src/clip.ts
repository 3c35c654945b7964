import { html, LitElement, type TemplateResult } from 'lit';

import { copyText } from './copy.js';

/** How long "copied" is shown, in milliseconds. */
const SAID_MS = 2000;

/** A button that copies a text. */
class Copy extends LitElement {
  static override properties = { text: { attribute: false }, what: { attribute: false }, copied: { state: true } };
  /** The text, or a function that finds it when it is needed. */
  declare text: string | (() => string);
  /** What is copied: "answer", "code". */
  declare what: string;
  declare copied: boolean;

  constructor() {
    super();
    this.text = '';
    this.what = '';
    this.copied = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    return html`<button class="copy" data-says=${this.copied ? 'Copied' : 'Copy'} aria-label=${this.copied ? 'Copied' : `Copy the ${this.what}`} @click=${() => void this.copy()}></button>`;
  }

  private async copy(): Promise<void> {
    await copyText(typeof this.text === 'string' ? this.text : this.text());
    this.copied = true;
    setTimeout(() => { this.copied = false; }, SAID_MS);
  }
}

customElements.define('mulligan-copy', Copy);
