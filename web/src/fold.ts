import type { Listed } from '@mulligan-run/client';

/** A row of the table: a run, and how many older ones of its conversation it hides. */
export interface Row {
  /** Stays the same while newer calls of the conversation come. */
  key: string;
  run: Listed;
  more: number;
}

/** The label with the conversation of a call that another program makes, or asked about. */
const SESSION = 'mulligan/session';

/** The filter that lists all calls of a row's conversation. */
export function conversationOf(run: Listed): string {
  return `${SESSION}=${run.labels?.[SESSION] ?? ''}`;
}

/** Turns runs into rows. Calls of other programs are one row per conversation, at the place of its first; `open` are the label filters. */
export function rowsOf(runs: Listed[], open: string[] = []): Row[] {
  const rows: Row[] = [];
  const first = new Map<string, Row>();
  const apart = open.some((label) => label.startsWith(`${SESSION}=`));
  for (const run of runs) {
    const name = apart ? undefined : run.labels?.[SESSION];
    const row = name === undefined ? undefined : first.get(name);
    if (row) {
      row.more++;
      continue;
    }
    rows.push({ key: name === undefined ? run.id : `${SESSION}=${name}`, run, more: 0 });
    if (name !== undefined) {
      first.set(name, rows.at(-1)!);
    }
  }
  return rows;
}
