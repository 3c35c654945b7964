import { modelName, type Rescue, type Span } from '@mulligan-run/client';
import { html, nothing, svg, type TemplateResult } from 'lit';

import { opened } from './rescued.js';
import { over, ticks, type Scale } from './scale.js';
import { took } from './words.js';

/** What a waterfall is drawn from, and what its rows do. */
export interface Waterfall {
  run: Rescue;
  scale: Scale;
  /** The visible part of the scale, from 0 to 1. */
  from: number;
  to: number;
  /** The time up to which it is shown, in milliseconds. */
  until: number;
  open: Set<number>;
  /** The row that the keyboard is at. */
  at: number;
  toggle: (span: Span) => void;
  focus: (at: number) => void;
}

const marks: Record<Span['kind'], string> = { attempt: 'dot', tool: 'square', wait: 'ring', person: 'square', summary: 'dot', failure: 'square' };
const states: Record<Span['state'], string> = { open: 'going on', ok: 'done', failed: 'failed', stopped: 'stopped', unknown: 'outcome unknown' };

/** The rows, one below the other: time goes to the right. */
export function waterfall(w: Waterfall): TemplateResult {
  return html`
    <div class="axis" aria-hidden="true"><span></span>${axis(w)}<span></span></div>
    <ol class="lanes" aria-label="What took how long">${w.run.spans.map((s, i) => lane(w, s, i))}</ol>`;
}

function place(w: Waterfall, at: number): number {
  return ((w.scale.place(at) - w.from) / (w.to - w.from)) * 100;
}

function axis(w: Waterfall): TemplateResult {
  const times = ticks(w.scale.time(w.from), w.scale.time(w.to), matchMedia('(max-width: 760px)').matches ? 3 : 7);
  let last = -100;
  return html`<svg class="strip">${times.map((at) => {
    const x = place(w, at);
    if (x < 0 || x > 92 || x - last < 9) {
      return nothing;
    }
    last = x;
    return svg`<line x1="${x}%" x2="${x}%" y1="14" y2="20"></line><text x="${x}%" y="11">${at === 0 ? '0' : at % 1000 ? (at < 1000 ? took(at) : `${at / 1000} s`) : took(at)}</text>`;
  })}</svg>`;
}

function lane(w: Waterfall, s: Span, i: number): TemplateResult {
  const open = w.open.has(s.seq);
  const to = over(s, w.scale.end);
  const later = s.from > w.until;
  const name = s.kind === 'attempt' || s.kind === 'summary' ? modelName(s.label) : s.label;
  const detail = s.state === 'open' && s.kind !== 'person' ? states.open : s.detail || states[s.state];
  return html`<li class="lane is-${s.kind} is-${s.state}" ?data-later=${later} ?data-open=${open}>
    <button type="button" class="bar" data-at=${i} tabindex=${i === w.at ? 0 : -1} aria-expanded=${open} aria-controls="span-${s.seq}"
      @click=${() => w.toggle(s)} @focus=${() => w.focus(i)}>
      <span class="who"><span class="${s.state === 'failed' ? 'square' : marks[s.kind]} ${tone(s)}" aria-hidden="true"></span><span class="name">${name}</span></span>
      ${bar(w, s, Math.min(to, w.until))}
      <span class="how">${s.state === 'failed' ? html`<span class="sr">Failed: </span>` : nothing}${detail}${s.tool && s.tool.try > 0 ? ' · repeated' : ''}</span>
      <span class="long">${s.kind === 'failure' ? '' : took(to - s.from)}</span>
    </button>
    ${open ? html`<div class="inside" id="span-${s.seq}" role="region" aria-label="${name}: ${detail}">${opened(w.run, s)}</div>` : nothing}
  </li>`;
}

/** The colour of a span's mark. */
function tone(s: Span): string {
  if (s.kind === 'person') {
    return 'attention';
  }
  if (s.kind === 'wait') {
    return '';
  }
  return s.state === 'failed' ? 'bad' : s.state === 'ok' ? (s.kind === 'tool' ? 'work' : 'good') : s.state === 'open' ? 'busy' : s.state === 'unknown' ? 'warn' : 'quiet';
}

function bar(w: Waterfall, s: Span, to: number): TemplateResult {
  const [x, end] = [place(w, s.from), place(w, to)];
  const [left, right] = [Math.max(0, x), Math.min(100, end)];
  const wide = Math.max(0.6, right - left); // whole also at the end of the chart
  const beyond = end < 0 ? '‹' : x > 100 ? '›' : '';
  return html`<svg class="strip" aria-hidden="true">
    ${w.scale.shortened.map(([from, until]) => {
      const [a, b] = [place(w, from), place(w, until)];
      return b < 0 || a > 100 ? nothing : svg`<rect class="fold" x="${Math.max(0, a)}%" width="${Math.max(0, Math.min(100, b) - Math.max(0, a))}%" y="0" height="100%"></rect>`;
    })}
    ${beyond ? svg`<text class="beyond" x=${beyond === '‹' ? '2' : '100%'} y="16" text-anchor=${beyond === '‹' ? 'start' : 'end'}>${beyond}</text>`
      : svg`<rect class="stretch" x="${Math.min(left, 100 - wide)}%" width="${wide}%" y="4" height="14" rx="2"></rect>`}
  </svg>`;
}
