/** What people are told about a failure. */

import { providerName, statusUrl } from './provider_names.js';
import { shown } from './shown.js';
import { named, type Wording } from './table.js';
import { tables } from './tables.js';
import { capital, clip, counted, lower, sentence, size, spell, tidy } from './text.js';

const wordings = named(tables.wordings.kinds);
const plainTitles = named(tables.wordings.plainTitles);
const reasons = named(tables.wordings.reasons);
const overflows = tables.overflows.map((form) => new RegExp(form.replace('(?i)', '').replaceAll('(?P<', '(?<'), 'iu'));
const HALF_DAY = 12 * 3_600_000;

/** What the words may mention. */
export interface Facts {
  readonly kind: string;
  readonly variant: string;
  readonly phase: string;
  readonly provider: string;
  readonly model: string;
  readonly httpStatus: number;
  readonly retryAfterMs: number;
  readonly resetsAt: Date | undefined;
  readonly detail: string;
  readonly error: string | undefined;
}

/** The title, and the message, which never repeats it. */
export function describe(f: Facts): { title: string; message: string } {
  const known = placeholders(f);
  const form = wordingOf(f);
  const title = clip(tidy(fill(form.title ?? '', known) ?? plainTitles.get(f.kind) ?? 'The call failed'), 300);
  const said = (form.message ?? []).map((ways) => say(ways, known, title)).filter((text) => text !== undefined);
  return { title, message: clip(said.join(' ') || 'The details may say more.', tables.limits.message - size(title)) };
}

function wordingOf(f: Facts): Wording {
  const base = wordings.get(f.kind) ?? wordings.get('unknown') ?? {};
  const cut = f.phase === 'mid_stream' || f.phase === 'end_of_stream';
  const name = f.kind === 'content_filter' && f.variant === '' && cut ? 'output' : f.variant;
  return { ...base, ...named(base.variant ?? {}).get(name) };
}

/** The words for the {placeholders}; what is not known is not in it. */
function placeholders(f: Facts): ReadonlyMap<string, string> {
  const known = new Map([['provider', 'the provider'], ['model', 'this model'], ['tool', 'the tool'], ['proxy', 'the proxy']]);
  const entry = f.provider || (f.model.includes('/') ? (f.model.split('/', 1)[0] ?? '') : '');
  const { has, takes } = f.kind === 'context_overflow' ? overflowOf(f.detail) : { has: 0, takes: 0 };
  const told: Record<string, string> = {
    provider: clip(providerName(entry), 100),
    providerName: clip(providerName(entry), 100), // where "the provider" would not do
    model: clip(modelName(shown(f.model)), 200),
    status: statusUrl(entry) === '' ? '' : `${providerName(entry)} status`,
    httpStatus: f.httpStatus >= 300 ? String(f.httpStatus) : '',
    resetsIn: f.retryAfterMs > 0 ? spell(f.retryAfterMs) : '',
    resetsAt: clock(f),
    contextTokens: counted(has),
    contextLimit: counted(takes),
    providerMessage: quotable(f.detail),
    reason: reasonOf(f),
  };
  for (const [name, value] of Object.entries(told)) {
    const fit = shown(value);
    if (fit !== '') {
      known.set(name, fit);
    }
  }
  for (const name of ['provider', 'model', 'tool', 'proxy']) {
    const value = known.get(name) ?? '';
    known.set(capital(name), /^(?:the|this) /.test(value) ? capital(value) : value);
  }
  const reason = known.get('reason');
  if (reason !== undefined) {
    known.set('Reason', sentence(reason));
  }
  return known;
}

/** A model's name without its entry: "claude" of "anthropic/claude". */
function modelName(model: string): string {
  return model.slice(model.indexOf('/') + 1);
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

function clock(f: Facts): string {
  const at = f.resetsAt;
  if (!at) {
    return '';
  }
  const two = (n: number) => String(n).padStart(2, '0');
  const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())} UTC`;
  const far = f.retryAfterMs === 0 || f.retryAfterMs > HALF_DAY;
  return far ? `${time} on ${MONTHS[at.getUTCMonth()] ?? ''} ${at.getUTCDate()}` : time;
}

function reasonOf(f: Facts): string {
  const known = named(reasons.get(f.kind) ?? {}).get(f.variant);
  return known ?? (f.kind === 'prompt_failure' ? quotable(f.error ?? '') : '');
}

/** The first of the provider's words, short enough to be quoted in a line; not a document. */
function quotable(text: string): string {
  const line = shown(clip(text, 1024));
  return /[{}]/.test(line) ? '' : clip(line, 300);
}

/** The first way whose words are all known, and which does not repeat the title. */
function say(ways: readonly string[], known: ReadonlyMap<string, string>, title: string): string | undefined {
  for (const way of ways) {
    const text = fill(way, known);
    if (text !== undefined && !lower(tidy(text)).includes(lower(title))) {
      return tidy(text);
    }
  }
  return undefined;
}

function fill(form: string, known: ReadonlyMap<string, string>): string | undefined {
  let whole = true;
  const text = form.replace(/\{([^}]*)\}/g, (_, name: string) => {
    whole &&= known.has(name);
    return known.get(name) ?? '';
  });
  return whole ? text : undefined;
}

/** What a provider told about a conversation that is too long: what it has, and what the model takes. */
function overflowOf(text: string): { has: number; takes: number } {
  for (const form of overflows) {
    const match = form.exec(text);
    if (match) {
      const number = (name: string) => Number((match.groups?.[name] ?? '0').replace(/[,_]/g, ''));
      const takes = number('takes');
      return { has: number('has') > takes ? number('has') : 0, takes };
    }
  }
  return { has: 0, takes: 0 };
}
