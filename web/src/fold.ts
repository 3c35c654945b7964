import type { Listed } from '@mulligan-run/client';

/** A row of the table: a run, and how many older ones of its conversation are behind it. */
export interface Row {
  run: Listed;
  more: number;
}

/** The label that names the conversation of a call that another program makes, or asked about. */
const SESSION = 'mulligan/session';

/** The filter by which all calls of a row's conversation are listed. */
export function conversationOf(run: Listed): string {
  return `${SESSION}=${run.labels?.[SESSION] ?? ''}`;
}

/** Runs as rows: of other programs' calls each conversation is one, which stands where its first does; `open` are filters by label. */
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
    rows.push({ run, more: 0 });
    if (name !== undefined) {
      first.set(name, rows.at(-1)!);
    }
  }
  return rows;
}
