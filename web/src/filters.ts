import type { RunQuery } from '@mulligan-run/client';

/** The filters of the page; each is in the address under its own name. */
const NAMES = ['status', 'kind', 'model', 'decidedBy', 'session', 'text', 'since', 'until', 'order', 'label'] as const;

/** The filters in an address. Invalid ones are left to the gateway, which answers with an error. */
export function filtersOf(search: string): RunQuery {
  const params = new URLSearchParams(search);
  const query: Record<string, unknown> = {};
  for (const name of NAMES) {
    const values = params.getAll(name).filter((value) => value !== '');
    if (values.length > 0) {
      query[name] = name === 'label' ? values : values[0];
    }
  }
  if (params.get('needsYou') === 'true') {
    query['needsYou'] = true;
  }
  return query as RunQuery;
}

/** The address for filters. */
export function addressOf(query: RunQuery): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== '' && one !== false) {
        params.append(name, String(one));
      }
    }
  }
  const text = params.toString();
  return text ? `?${text}` : location.pathname;
}
