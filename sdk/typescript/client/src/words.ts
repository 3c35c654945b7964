import type { RunQuery } from './documents.js';
import type { Delta, Item, Notice, RunEvent } from './event.js';
import type { Situation } from './situation.js';

/** What an event of the stream is; undefined for one that is not known. */
export function itemOf(kind: string, data: string): Item | 'end' | 'resync' | undefined {
  switch (kind) {
    case 'event': return { event: JSON.parse(data) as RunEvent };
    case 'delta': return { delta: JSON.parse(data) as Delta };
    case 'situation': return { situation: JSON.parse(data) as Situation };
    case 'notice': return { notice: JSON.parse(data) as Notice };
    case 'end': case 'resync': return kind;
  }
  return undefined;
}

/** A name that nobody else has: of an idempotency key, of a session. */
export function newId(): string {
  // randomUUID is not there on a page that came over plain HTTP from another machine.
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Where a run is. */
export function runPath(id: string): string {
  return `/v1/runs/${encodeURIComponent(id)}`;
}

/** A query as it stands in an address; what is undefined is left out. */
export function queryOf(query: { [name: string]: string | number | boolean | string[] | undefined } | RunQuery): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : value === undefined ? [] : [value]) {
      params.append(key, String(one));
    }
  }
  const text = params.toString();
  return text ? `?${text}` : '';
}
