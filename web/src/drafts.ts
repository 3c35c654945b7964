import type { Picture } from './pictures.js';

/** The key of what was typed but not sent, by conversation: this window keeps it across reloads. */
const KEY = 'mulligan.drafts';

/** How many drafts are kept; the oldest are dropped first. */
const MAX_DRAFTS = 50;

export function draftOf(conversation: string): string {
  return all().get(conversation) ?? '';
}

export function keepDraft(conversation: string, text: string): void {
  const drafts = all();
  drafts.delete(conversation);
  if (text) {
    drafts.set(conversation, text);
  }
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...drafts].slice(-MAX_DRAFTS)));
  } catch {
    // it lasts as long as the page
  }
}

/** The queued messages of a conversation. */
export function queueOf(conversation: string): string[] {
  try {
    return JSON.parse(draftOf(`queue ${conversation}`) || '[]') as string[];
  } catch {
    return [];
  }
}

export function keepQueue(conversation: string, messages: string[]): void {
  keepDraft(`queue ${conversation}`, messages.length > 0 ? JSON.stringify(messages) : '');
}

/** The pictures of drafts; they last as long as the page, for this many conversations. */
const pictures = new Map<string, Picture[]>();
const MAX_WITH_PICTURES = 8;

export function picturesWith(conversation: string): Picture[] {
  return pictures.get(conversation) ?? [];
}

export function keepPictures(conversation: string, of: Picture[]): void {
  pictures.delete(conversation);
  if (of.length > 0) {
    pictures.set(conversation, of);
  }
  for (const oldest of [...pictures.keys()].slice(0, -MAX_WITH_PICTURES)) {
    pictures.delete(oldest);
  }
}

export function forgetDrafts(): void {
  pictures.clear();
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // there is nothing to delete
  }
}

function all(): Map<string, string> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as [string, string][]);
  } catch {
    return new Map();
  }
}
