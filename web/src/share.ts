import type { Client, Rescue } from '@mulligan-run/client';
import { html, type TemplateResult } from 'lit';

import { explain } from './conversation.js';
import { picture } from './picture.js';

/** The run that this page was saved with, if it is a file of its own. */
export function sharedRescue(): Rescue | undefined {
  const text = document.getElementById('rescue')?.textContent;
  return text ? (JSON.parse(text) as Rescue) : undefined;
}

/** Offers to share a run as one file, with its texts only if the person chooses that. */
export function share(run: Rescue, client: Client, failed: (text: string) => void): TemplateResult {
  const save = async (e: Event, as: 'html' | 'json' | 'png'): Promise<void> => {
    const texts = (e.target as HTMLElement).closest('details')?.querySelector('input')?.checked ?? false;
    try {
      if (as === 'png') {
        download(`${run.run}.png`, 'image/png', await picture(await client.rescue(run.run)));
        return;
      }
      const document = JSON.stringify(await client.rescue(run.run, texts), null, as === 'json' ? 2 : 0);
      download(`${run.run}.${as}`, as === 'html' ? 'text/html' : 'application/json', as === 'json' ? document : await page(document));
    } catch (error) {
      failed(explain(error));
    }
  };
  const close = (e: KeyboardEvent): void => {
    const menu = e.currentTarget as HTMLDetailsElement;
    if (e.key === 'Escape' && menu.open) {
      menu.open = false;
      menu.querySelector('summary')?.focus();
    }
  };
  return html`
    <details class="share" @keydown=${close}>
      <summary class="tool">Share</summary>
      <div class="menu">
        <label><input type="checkbox"> With texts</label>
        <p class="meta">Without them nobody reads what was asked and answered, nor the provider’s words.</p>
        <button type="button" class="tool" @click=${(e: Event) => void save(e, 'html')}>Save as a page (HTML)</button>
        <button type="button" class="tool" @click=${(e: Event) => void save(e, 'json')}>Save as data (JSON)</button>
        <button type="button" class="tool" @click=${(e: Event) => void save(e, 'png')}>Save as a picture (PNG, no texts)</button>
      </div>
    </details>`;
}

/** The page with a run in it, as one file that needs nothing else. */
async function page(document: string): Promise<string> {
  const response = await fetch('/share.html', { cache: 'no-store' });
  if (!response.ok) {
    throw new Error(`share.html: ${response.status}`);
  }
  return (await response.text()).replace('>null</script>', () => `>${document.replaceAll('<', '\\u003c')}</script>`);
}

function download(name: string, type: string, content: string | Blob): void {
  const link = Object.assign(document.createElement('a'), {
    href: URL.createObjectURL(new Blob([content], { type })), download: name,
  });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
