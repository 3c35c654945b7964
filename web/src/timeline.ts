import { localize, modelName, type RunEvent, type View, type Wait } from '@mulligan-run/client';
import { html, nothing, svg, type TemplateResult } from 'lit';

import { took } from './words.js';

/** A part of a run's time: a model call, a tool call, a wait, or a person's time. */
interface Span {
  kind: 'ok' | 'failed' | 'running' | 'wait' | 'tool' | 'person';
  label: string;
  detail: string;
  from: number;
  to: number;
}

/** A run's timeline: how long each part took, at a glance, and then everything in order. Beside a conversation there is as little room as on a phone. */
export function timeline(v: View, now: number, beside = false): TemplateResult {
  const begin = Date.parse(v.startedAt);
  const end = v.stopReason || v.suggestion ? Date.parse(v.updatedAt) : now;
  const spans = spansOf(v.events, end);
  const times = v.events.flatMap(timesOf);
  return html`
    <dl class="figures">${figures(v, spans, end - begin).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${chart(spans, begin, Math.max(end, begin + 1), beside)}
    <h3>Everything that happened</h3>
    <ol class="events">${v.events.map((e) => row(e, begin, (text) => times.reduce((said, at) => localize(said, at, now), text)))}</ol>`;
}

function figures(v: View, spans: Span[], time: number): [string, string][] {
  const calls = spans.filter((s) => s.kind === 'ok' || s.kind === 'failed' || s.kind === 'running');
  const list: [string, string][] = [
    ['Time', took(time)], ['Model calls', `${calls.length}`], ['Failed', `${calls.filter((s) => s.kind === 'failed').length}`],
    ['Tokens', v.usage.tokens.toLocaleString('en-US')],
  ];
  if (v.usage.wastedTokens) {
    list.push(['Wasted', v.usage.wastedTokens.toLocaleString('en-US')]);
  }
  if (v.usage.microdollars) {
    list.push(['Cost', `$${(v.usage.microdollars / 1e6).toFixed(v.usage.microdollars < 10_000 ? 4 : 2)}`]);
  }
  return list;
}

function spansOf(events: RunEvent[], end: number): Span[] {
  const spans: Span[] = [];
  const open = new Map<string, Span>();
  const begin = (key: string, span: Omit<Span, 'to'>): void => {
    const s = { ...span, to: end };
    open.set(key, s);
    spans.push(s);
  };
  const close = (key: string, at: number, change: Partial<Span> = {}): void => {
    const s = open.get(key);
    if (s) {
      Object.assign(s, change, { to: at });
      open.delete(key);
    }
  };
  let model = '';
  for (const e of events) {
    const at = Date.parse(e.time);
    switch (e.type) {
      case 'began': model = e.data.model; begin(`a${e.data.attempt}`, { kind: 'running', label: modelName(e.data.model), detail: '', from: at }); break;
      case 'answered': close(`a${e.data.attempt}`, at, { kind: 'ok', detail: 'answered' }); break;
      case 'failed': close(`a${e.data.attempt ?? 0}`, at, { kind: 'failed', detail: e.data.failure.title }); break;
      case 'tool_began': begin(`t${e.data.callId}`, { kind: 'tool', label: e.data.name, detail: 'tool', from: at }); break;
      case 'tool_returned': close(`t${e.data.callId}`, at, { detail: e.data.outcome === 'ok' ? 'tool' : `tool, ${e.data.outcome}` }); break;
      case 'waiting': begin('wait', { kind: 'wait', label: 'wait', detail: waitedFor(e.data, model), from: at }); break;
      case 'suggested': begin('person', { kind: 'person', label: 'you', detail: e.data.suggestion.title, from: at }); break;
      case 'due': close('wait', at); break;
      case 'accepted': close('wait', at); close('person', at, { detail: e.text ?? '' }); break;
      case 'cancel_requested': case 'ended': for (const key of [...open.keys()]) { close(key, at); } break;
    }
  }
  return spans;
}

function waitedFor(w: Wait, model: string): string {
  if (w.for !== 'time') {
    return `for ${w.for === 'reset' ? 'a reset' : `the ${w.for}`}`;
  }
  if (w.model !== model) {
    return `before ${modelName(w.model)}`;
  }
  return w.retry ? `attempt ${w.retry}/${w.of}` : 'before it is tried again';
}

const ROW = 24;

/** The chart's width, and the width of its labels; where there is less room it is not scaled down, because its text is small already. */
const wide = { width: 440, labels: 128 };
const narrow = { width: 312, labels: 104 };

/** The bars, one below the other: time goes to the right. */
function chart(spans: Span[], begin: number, end: number, beside: boolean): TemplateResult {
  const { width: all, labels } = beside || matchMedia('(max-width: 480px)').matches ? narrow : wide;
  const scale = (all - labels - 8) / (end - begin);
  const height = spans.length * ROW;
  const said = spans.map((s) => `${s.label}: ${s.detail}, ${took(s.to - s.from)}`).join('; ');
  return html`
    <svg class="chart" role="img" aria-label=${said} viewBox="0 0 ${all} ${height}">
      ${spans.map((s, i) => {
        const x = labels + (s.from - begin) * scale;
        const width = Math.max(3, (s.to - s.from) * scale);
        const inside = width > 120;
        const left = !inside && x + width > all - 110;
        return svg`
          <g class="is-${s.kind}">
            <text class="name" x="0" y=${i * ROW + 16}>${clip(s.label, Math.floor(labels / 7))}</text>
            <rect x=${x} y=${i * ROW + 5} width=${width} height="14" rx="2"><title>${s.detail}, ${took(s.to - s.from)}</title></rect>
            <text class="what" x=${inside ? x + 6 : left ? x - 5 : x + width + 5} y=${i * ROW + 16} text-anchor=${left ? 'end' : 'start'} data-inside=${inside || nothing}>${clip(s.detail, inside ? Math.floor(width / 6) : 24)}</text>
          </g>`;
      })}
    </svg>`;
}

function clip(text: string, n: number): string {
  return text.length > n ? `${text.slice(0, n - 1)}…` : text;
}

/** The times that an event may mention. */
function timesOf(e: RunEvent): string[] {
  switch (e.type) {
    case 'failed': return [e.data.failure.resetsAt ?? ''];
    case 'waiting': return [e.data.until ?? ''];
    case 'suggested': return [e.data.suggestion.resetsAt ?? '', e.data.suggestion.error.resetsAt ?? ''];
  }
  return [];
}

function row(e: RunEvent, begin: number, local: (text: string) => string): TemplateResult | typeof nothing {
  const what = told(e)?.map((text) => text && local(text));
  if (!what) {
    return nothing;
  }
  return html`<li class=${e.type}><span class="at">${took(Date.parse(e.time) - begin)}</span><span class="what">${what[0]}${what[1] ? html`<span class="meta">${what[1]}</span>` : nothing}</span></li>`;
}

/** What to show for an event: a line, and details. */
function told(e: RunEvent): [line: string, more?: string | undefined] | undefined {
  switch (e.type) {
    case 'started': return ['Started', `${modelName(e.data.model)} · ${e.data.policy.autoRecover ? 'recovers automatically' : 'asks you first'}`];
    case 'began': return [`Asked ${modelName(e.data.model)}`, e.text];
    case 'answered': return ['Answered', e.text];
    case 'failed': return [e.data.failure.title, [e.data.failure.code, e.data.failure.httpStatus, e.data.failure.row && `called ${e.data.failure.kind.replaceAll('_', ' ')} by ${e.data.failure.row}`].filter(Boolean).join(' · ')];
    case 'voted': {
      const v = e.data.vote;
      return [`${v.plugin} ${v.shadow ? 'on trial ' : ''}${v.error || !v.action ? 'has no opinion' : `says ${v.action.replace('_', ' ')}${v.newModel ? ` to ${modelName(v.newModel)}` : ''}`}`,
        [v.error ?? v.reason, `${v.latencyMs} ms`].filter(Boolean).join(' · ')];
    }
    case 'decided': {
      const d = e.data.decision;
      return [`Decided: ${d.action ? d.action.replace('_', ' ') : 'nothing'}${d.newModel ? ` to ${modelName(d.newModel)}` : ''}${d.delayMs ? ` in ${took(d.delayMs)}` : ''}`,
        d.blockedBy ? 'offered to you' : d.by ? `by ${d.by.plugin}` : undefined];
    }
    case 'tool_began': return [`Called ${e.data.name}`, e.data.by && `by the ${e.data.by} itself`];
    case 'tool_returned': return [`${e.data.result.name || 'The tool'} returned`, e.data.outcome === 'ok' ? undefined : e.data.outcome];
    case 'suggested': return ['Asked you', [e.data.suggestion.title, e.data.suggestion.limit].filter(Boolean).join(' · ')];
    case 'ended': return [e.text ?? e.data.stopReason];
    case 'claimed': case 'repaired': return undefined;
    case 'due': return e.text ? [e.text] : undefined;
    case 'cancel_requested': return ['You stopped it'];
  }
  return e.text ? [e.text] : undefined;
}
