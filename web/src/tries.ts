import { type Recovery } from '@mulligan-run/client';
import { html, type TemplateResult } from 'lit';

/** More failed attempts than these are not told apart on so small a strip. */
const MOST = 8;

/** What it took to get an answer, in small: an attempt that failed, the wait after it, and the one that answered. It opens the run's page. */
export function tries(run: string, r: Recovery): TemplateResult {
  const failed = r.tried.length;
  const said = `${failed === 1 ? '1 attempt' : `${failed} attempts`} failed before this answer. See all that happened.`;
  return html`<a class="tries" href="/runs/${run}" aria-label=${said} title=${said}>${r.tried.slice(-MOST).map(() => html`<i class="bad"></i><i class="wait"></i>`)}<i class="good"></i></a>`;
}
