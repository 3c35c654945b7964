import type { Listed } from '@mulligan-run/client';

/** A run's state: a word, and the symbol and colour that say the same. */
export function standing(run: Listed): { word: string; mark: string } {
  if (run.approval) {
    return { word: 'Needs approval', mark: 'square attention' };
  }
  if (run.suggestionOpen) {
    return { word: 'Needs you', mark: 'square attention' };
  }
  switch (run.status) {
    case 'running': return { word: 'Running', mark: 'dot quiet' };
    case 'waiting': return { word: 'Waiting', mark: 'ring' };
    case 'completed': return run.kind ? { word: 'Recovered', mark: 'dot good' } : { word: 'Completed', mark: 'dot good' };
    case 'failed': return { word: 'Failed', mark: 'square bad' };
    case 'cancelled': return { word: 'Stopped', mark: 'square quiet' };
  }
}

/** "<1 s", "8 s", "2 min 5 s", "3 h 10 min". */
export function lasting(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s === 0) {
    return '<1 s';
  }
  if (s < 60) {
    return `${s} s`;
  }
  if (s < 3600) {
    return s % 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${s / 60} min`;
  }
  const minutes = Math.floor((s % 3600) / 60);
  return s < 86_400 ? `${Math.floor(s / 3600)} h${minutes ? ` ${minutes} min` : ''}` : `${Math.floor(s / 86_400)} d`;
}

/** "640 ms", "2.3 s". */
export function seconds(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** "$0.12", "<$0.01"; without prices the tokens, "1.2 k". */
export function cost(run: Listed): string {
  return run.microdollars ? dollars(run.microdollars) : run.tokens ? `${thousands(run.tokens)} tok` : '–';
}

/** "$4.30", or the tokens; "nothing". */
export function spending(of: { tokens?: number; microdollars?: number }): string {
  return of.microdollars ? dollars(of.microdollars) : of.tokens ? `${thousands(of.tokens)} tok` : 'nothing';
}

/** How much of it failed attempts wasted; "" for nothing. */
export function wasted(run: Listed): string {
  return run.wastedMicrodollars ? `${dollars(run.wastedMicrodollars)} wasted` : run.wastedTokens ? `${thousands(run.wastedTokens)} wasted` : '';
}

function dollars(micro: number): string {
  return micro < 10_000 ? '<$0.01' : `$${(micro / 1e6).toFixed(2)}`;
}

function thousands(n: number): string {
  return n < 1000 ? String(n) : n < 1e6 ? `${(n / 1000).toFixed(1)} k` : `${(n / 1e6).toFixed(1)} M`;
}

/** "14:25" for today, else "Mar 10, 14:25". */
export function moment(iso: string): string {
  const at = new Date(iso);
  const today = at.toDateString() === new Date().toDateString();
  return at.toLocaleString('en-US', today ? { hour: 'numeric', minute: '2-digit' } : { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' });
}
