import type { Listed } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';

/** A conversation in the list. */
export interface Item {
  /** As in the address: "s/…" for a session, "r/…" for a run without one. */
  path: string;
  title: string;
  last: Listed;
}

/** The session of an item; a single run has none. */
export function sessionOf(item: Item): string | undefined {
  return item.path.startsWith('s/') ? decoded(item.path.slice(2)) : undefined;
}

/** The longest title, in characters. */
export const MAX_TITLE = 80;

/** The beginning of a text, on one line, as a title. */
export function titleOf(text: string): string {
  return [...text.slice(0, 1000).replace(/[\s\p{Cc}]+/gu, ' ').trim()].slice(0, MAX_TITLE).join('').trim();
}

/** A conversation's state, in a word. */
export function mark(run: Listed): TemplateResult | typeof nothing {
  if (run.suggestionOpen) {
    return html`<span class="dot attention" aria-hidden="true"></span>${run.approval ? 'needs approval' : 'needs you'} · `;
  }
  switch (run.status) {
    case 'running': return html`<span class="dot busy pulse" aria-hidden="true"></span>running · `;
    case 'waiting': return html`<span class="ring" aria-hidden="true"></span>waiting · `;
    case 'failed': return html`<span class="square bad" aria-hidden="true"></span>failed · `;
  }
  return nothing;
}

/** How long ago something was, roughly. */
export function ago(time: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(time)) / 60_000);
  if (minutes < 1) {
    return 'now';
  }
  if (minutes < 60) {
    return `${minutes} min`;
  }
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h` : new Date(time).toLocaleDateString('en-US', { month: 'long', day: 'numeric' });
}

/** A decoded part of an address; "" if it is malformed. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
