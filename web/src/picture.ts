import { modelName, type Rescue, type Span } from '@mulligan-run/client';

import { over, Scale, ticks } from './scale.js';
import { took } from './words.js';

/** The picture's measures in pixels, before doubling the resolution, and the most spans it shows. */
const WIDE = 1120;
const PAD = 40;
const NAME = 200;
const LONG = 72;
const ROW = 34;
const MOST = 40;

/** The picture is the same for everybody: it uses the colours of the light theme. */
const INK = '#17181c';
const SOFT = '#575b64';
const EDGE = '#e3e3df';
const STRETCH: Record<string, string> = { ok: '#18794e', failed: '#b3261e', open: '#7d828c', stopped: '#7d828c', unknown: '#b4690e' };

const FONT = 'system-ui, "Segoe UI", Roboto, sans-serif';

/** A run's history as a PNG: its headline, its figures, and how long each step took. */
export async function picture(run: Rescue): Promise<Blob> {
  const canvas = document.createElement('canvas');
  const c = canvas.getContext('2d');
  if (!c) {
    throw new Error('this browser draws no pictures');
  }
  c.font = `650 30px ${FONT}`;
  const headline = lines(c, run.headline, WIDE - 2 * PAD);
  const spans = run.spans.slice(0, MOST);
  const left = run.spans.length - spans.length;
  const top = PAD + 24 + headline.length * 38 + 40;
  const high = top + 28 + spans.length * ROW + (left > 0 ? 28 : 0) + 56;
  canvas.width = WIDE * 2;
  canvas.height = high * 2;
  c.scale(2, 2);
  c.fillStyle = '#ffffff';
  c.fillRect(0, 0, WIDE, high);
  text(c, facts(run), PAD, PAD + 12, SOFT, `14px ${FONT}`);
  headline.forEach((line, i) => text(c, line, PAD, PAD + 52 + i * 38, INK, `650 30px ${FONT}`));
  text(c, figures(run), PAD, top - 20, SOFT, `15px ${FONT}`);
  chart(c, run, spans, top);
  if (left > 0) {
    text(c, `and ${left} more`, PAD, top + 28 + spans.length * ROW + 20, SOFT, `13px ${FONT}`);
  }
  text(c, 'Mulligan', WIDE - PAD, high - 22, SOFT, `600 13px ${FONT}`, 'right');
  return await new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('the picture could not be drawn'))), 'image/png'));
}

function chart(c: CanvasRenderingContext2D, run: Rescue, spans: Span[], top: number): void {
  const lived = Math.max(1, Date.parse(run.updatedAt) - Date.parse(run.startedAt), ...spans.map((s) => s.to ?? s.from));
  const scale = new Scale(run.spans, lived);
  const from = PAD + NAME;
  const wide = WIDE - PAD - LONG - from;
  const x = (at: number): number => from + scale.place(at) * wide;
  const bottom = top + 28 + spans.length * ROW;
  c.fillStyle = '#f2f2ef';
  for (const [a, b] of scale.shortened) {
    c.fillRect(x(a), top + 22, x(b) - x(a), bottom - top - 22);
  }
  let last = -100;
  for (const at of ticks(0, lived, 7)) {
    if (x(at) - last > 64 && x(at) < from + wide - 40) {
      last = x(at);
      text(c, at === 0 ? '0' : took(at), last, top + 12, SOFT, `12px ${FONT}`);
      line(c, last, top + 22, last, bottom, EDGE);
    }
  }
  spans.forEach((s, i) => {
    const y = top + 28 + i * ROW;
    line(c, PAD, y, WIDE - PAD, y, EDGE);
    const name = s.kind === 'attempt' || s.kind === 'summary' ? modelName(s.label) : s.label;
    c.font = `500 14px ${FONT}`;
    text(c, clipped(c, name, NAME - 20), PAD, y + 22, INK, c.font);
    stretch(c, s, x(s.from), Math.max(4, x(over(s, lived)) - x(s.from)), y + 10);
    if (s.kind !== 'failure') {
      text(c, took(over(s, lived) - s.from), WIDE - PAD, y + 22, SOFT, `13px ${FONT}`, 'right');
    }
  });
  line(c, PAD, bottom, WIDE - PAD, bottom, EDGE);
}

/** Draws one span; waiting and asking are outlined, so that they differ from work without colours. */
function stretch(c: CanvasRenderingContext2D, s: Span, x: number, wide: number, y: number): void {
  const outlined = s.kind === 'wait' || s.kind === 'person';
  c.beginPath();
  c.roundRect(x, y, wide, 14, 2);
  c.fillStyle = s.kind === 'person' ? '#fbe9b8' : outlined ? '#f2f2ef' : s.kind === 'tool' && s.state !== 'failed' ? '#44689c' : (STRETCH[s.state] ?? SOFT);
  c.fill();
  if (outlined) {
    c.setLineDash([4, 3]);
    c.strokeStyle = '#b4690e';
    c.stroke();
    c.setLineDash([]);
  }
}

function facts(run: Rescue): string {
  const model = run.model === run.chosenModel ? modelName(run.model) : `${modelName(run.chosenModel)} → ${modelName(run.model)}`;
  return `${new Date(run.startedAt).toLocaleString('en-US', { dateStyle: 'medium', timeStyle: 'short' })} · ${model}`;
}

function figures(run: Rescue): string {
  const f = run.figures;
  const all = [
    f.attempts === 1 ? '1 model call' : `${f.attempts} model calls`, f.failedAttempts ? `${f.failedAttempts} failed` : 'none failed',
    f.tools ? (f.tools === 1 ? '1 tool call' : `${f.tools} tool calls`) : '', f.used?.tokens ? `${f.used.tokens.toLocaleString('en-US')} tokens` : '',
    f.used?.microdollars ? `$${(f.used.microdollars / 1e6).toFixed(f.used.microdollars < 10_000 ? 4 : 2)}` : '',
  ];
  return all.filter(Boolean).join(' · ');
}

function text(c: CanvasRenderingContext2D, what: string, x: number, y: number, colour: string, font: string, align: CanvasTextAlign = 'left'): void {
  c.font = font;
  c.fillStyle = colour;
  c.textAlign = align;
  c.fillText(what, x, y);
}

function line(c: CanvasRenderingContext2D, x: number, y: number, toX: number, toY: number, colour: string): void {
  c.strokeStyle = colour;
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(toX, toY);
  c.stroke();
}

/** Breaks text into lines that fit, at most three. */
function lines(c: CanvasRenderingContext2D, what: string, wide: number): string[] {
  const list: string[] = [''];
  for (const word of what.split(' ')) {
    const longer = list.at(-1) ? `${list.at(-1)} ${word}` : word;
    if (c.measureText(longer).width <= wide || !list.at(-1)) {
      list[list.length - 1] = longer;
    } else {
      list.push(word);
    }
  }
  return list.slice(0, 3).map((one) => clipped(c, one, wide));
}

function clipped(c: CanvasRenderingContext2D, what: string, wide: number): string {
  let text = what.slice(0, 300);
  while (text && c.measureText(text).width > wide) {
    text = `${text.slice(0, -2).trimEnd()}…`;
  }
  return text;
}
