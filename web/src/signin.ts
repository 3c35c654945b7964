import { html, LitElement, nothing, type TemplateResult } from 'lit';

import { copyText } from './copy.js';
import { sentenceOf } from './words.js';

/** The command that prints a link. */
const COMMAND = 'mulligan login';

/** The code in a login link, or the code itself. */
export function codeOf(pasted: string): string {
  const text = pasted.trim();
  return /#code=([^\s&]+)$/.exec(text)?.[1] ?? (/^[\w-]{8,}$/.test(text) ? text : '');
}

/** The page for people who are not logged in. */
export class SignIn extends LitElement {
  static override properties = { refused: { attribute: false }, pasted: { state: true }, copied: { state: true } };
  /** Why a login link was refused. */
  declare refused: string;
  declare pasted: string;
  declare copied: boolean;

  constructor() {
    super();
    this.refused = '';
    this.pasted = '';
    this.copied = false;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): TemplateResult {
    const wrong = this.pasted.trim() !== '' && !codeOf(this.pasted);
    return html`
      <main class="signin">
        <h1>Sign in to Mulligan</h1>
        <p>Run this on the computer that Mulligan runs on, and open the link that it prints:</p>
        <p class="command"><code>${COMMAND}</code><button class="link" @click=${() => void this.copy()}>${this.copied ? 'Copied' : 'Copy'}</button></p>
        <form @submit=${this.enter}>
          <label for="link">Or paste the link here</label>
          <div class="paste">
            <input id="link" autocomplete="off" spellcheck="false" maxlength="500" .value=${this.pasted} aria-describedby="link-help" aria-invalid=${wrong}
              @input=${(e: Event) => { this.pasted = (e.target as HTMLInputElement).value; }}>
            <button ?disabled=${!codeOf(this.pasted)}>Sign in</button>
          </div>
          <p class="meta" id="link-help">${wrong ? 'This is no sign-in link: it ends with #code=…' : 'A link works once, within a minute.'}</p>
        </form>
        ${this.refused ? html`<p class="refused" role="alert"><span class="square bad" aria-hidden="true"></span>${sentenceOf(this.refused)}</p>` : nothing}
        <p class="meta">Signed in already, in another window? <button class="link" @click=${() => this.dispatchEvent(new CustomEvent('again', { bubbles: true }))}>Try again</button></p>
      </main>`;
  }

  private async copy(): Promise<void> {
    await copyText(COMMAND);
    this.copied = true;
  }

  private readonly enter = (e: Event): void => {
    e.preventDefault();
    const code = codeOf(this.pasted);
    if (code) {
      this.pasted = '';
      this.dispatchEvent(new CustomEvent('code', { bubbles: true, detail: code }));
    }
  };
}

customElements.define('mulligan-signin', SignIn);
