/** What was typed and not sent, by conversation: this window keeps it across reloads. */
const KEY = 'mulligan.drafts';

/** More drafts than this are forgotten, the oldest first. */
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

/** The messages of a conversation that wait for an answer. */
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

export function forgetDrafts(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // there is nothing to forget
  }
}

function all(): Map<string, string> {
  try {
    return new Map(JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as [string, string][]);
  } catch {
    return new Map();
  }
}
