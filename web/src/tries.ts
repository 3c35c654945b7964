import { type Recovery } from '@mulligan-run/client';
import { html, type TemplateResult } from 'lit';

/** More failed attempts than these cannot be told apart on such a small strip. */
const MOST = 8;

/** A small picture of what it took to get an answer: each failed attempt, the wait after it, and the one that answered. It links to the run's page. */
export function tries(run: string, r: Recovery): TemplateResult {
  const failed = r.tried.length;
  const said = `${failed === 1 ? '1 attempt' : `${failed} attempts`} failed before this answer. See all that happened.`;
  return html`<a class="tries" href="/runs/${run}" aria-label=${said} title=${said}>${r.tried.slice(-MOST).map(() => html`<i class="bad"></i><i class="wait"></i>`)}<i class="good"></i></a>`;
}
