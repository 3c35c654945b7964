import type { Client, Listed } from '@mulligan-run/client';

/** The run of another window that a message would end, if the person has not seen it: one that goes on, or waits for a choice. */
export async function unseenElsewhere(client: Client, session: string, shown: { id: string }[]): Promise<Listed | undefined> {
  const [newest] = (await client.runs({ session, limit: 1 })).runs;
  const ends = newest && (newest.suggestionOpen || newest.status === 'running' || newest.status === 'waiting');
  return ends && !shown.some((run) => run.id === newest.id) ? newest : undefined;
}

/** What a person is told whose message is held back. */
export function heldBack(run: Listed): string {
  return `Not sent yet: this was asked elsewhere meanwhile, and ${run.suggestionOpen ? 'waits for a choice. Send your message again to close the suggestion' : 'goes on'}.`;
}
