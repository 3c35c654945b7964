import { localize, modelName, type Entry, type Message, type Recovery, type ToolRun, type View } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';

import './clip.js';
import { picture } from './pictures.js';
import './prose.js';
import { tries } from './tries.js';
import { decided, failureLine, plainJson, shortly, took, written } from './words.js';

/** How much of a tool's result is shown, in characters. */
const MAX_RESULT = 20_000;

/** What a person can do from within a conversation. */
export interface Doings {
  /** The run's id. */
  run: string;
  /** Sends the next message to that model. */
  choose: (model: string) => void;
  /** The models that the run may use. */
  models: string[];
  /** The model for the next message: the chosen one, or the default; "" if unknown. */
  model: string;
  /** The run is over, and the conversation continues below it. */
  newest: boolean;
  /** Starts to edit the run's message; undefined while that is not possible. */
  edit: (() => void) | undefined;
}

/** A run's part of the conversation, and the current reasoning of the model that is writing. */
export function transcript(entries: Entry[], doings: Doings, writing?: View['attempt']): TemplateResult {
  const asked = entries.findLastIndex((entry) => entry.type === 'user');
  const parts: [key: string, part: TemplateResult][] = [];
  let live = writing?.thinking;
  entries.forEach((entry, i) => {
    const key = keyOf(entry, i);
    if (entry.type === 'text') {
      const mine = writing && key === `a${writing.id}`;
      const thinking = entry.thinking ?? (mine ? live : undefined);
      live = mine ? undefined : live;
      if (thinking) {
        parts.push([`thinking ${key}`, reasoning(thinking)]); // separate, so that it stays open when the answer appears below it
      }
    }
    parts.push([key, entry.type === 'user' ? said(entry.message, i === asked ? doings.edit : undefined) : piece(entry, doings, isLastOf(entries, i))]);
  });
  if (writing && live) {
    parts.push([`thinking a${writing.id}`, reasoning(live)]);
  }
  return html`${repeat(parts, ([key]) => key, ([, part]) => part)}`;
}

/** How much of a model's reasoning is shown, in characters: its end. */
const MAX_THOUGHT = 200_000;

function reasoning(text: string): TemplateResult {
  return html`<details class="reasoning"><summary>Reasoning</summary><div class="thought" dir="auto">${text.slice(-MAX_THOUGHT)}</div></details>`;
}

/** The end of an answer that was cut at the output limit. */
const truncated = html`<p class="note truncated"><span class="square warn" aria-hidden="true"></span>Cut off here: the model reached its length limit. Write “continue” to get the rest.</p>`;

/** Whether a text is the last one before somebody other than its model wrote. */
function isLastOf(entries: Entry[], i: number): boolean {
  const [entry, next] = [entries[i], entries.slice(i + 1).find((e) => e.type === 'text')];
  return entry?.type === 'text' && !(next?.type === 'text' && next.model === entry.model);
}

function keyOf(entry: Entry, index: number): string {
  switch (entry.type) {
    case 'text': return entry.key;
    case 'tool': return `t${entry.call.id}`;
    case 'chosen': return `c${entry.seq}`;
    case 'recovered': return `r${entry.recovery.attempt}`;
    case 'user': return `u${index}`;
  }
}

/** What a person said. */
function said(message: Message, edit: Doings['edit']): TemplateResult {
  const text = message.parts.map((p) => p.text ?? '').join('');
  const pictures = message.parts.flatMap((p) => p.image ?? []);
  return html`
    <div class="user">
      <h2 class="sr">You said</h2>
      ${pictures.length > 0 ? html`<div class="pictures">${pictures.map((p, i) => picture(p, `Picture ${i + 1} of what you said`))}</div>` : nothing}
      ${text ? html`<div class="bubble" dir="auto">${text}</div>` : nothing}
      ${edit ? html`<button class="link quiet edit" title="Edit this message: it goes on from here in a new conversation" @click=${edit}>Edit</button>` : nothing}
    </div>`;
}

function piece(entry: Exclude<Entry, { type: 'user' }>, doings: Doings, signed: boolean): TemplateResult {
  switch (entry.type) {
    case 'text':
      return html`
        <div class="answer ${entry.partial ? 'partial' : ''}">
          <h2 class="sr">The answer</h2>
          ${entry.text ? html`<mulligan-prose class="prose" .text=${entry.text}></mulligan-prose>` : nothing}
          ${entry.truncated ? truncated : nothing}
          ${entry.text && entry.model && signed ? html`
            <div class="signed"><div class="badge" title=${entry.model}><span class="sr">Written by </span>${written(entry.model)}</div><mulligan-copy .text=${entry.text} .what=${'answer'}></mulligan-copy></div>` : nothing}
        </div>`;
    case 'tool': return tool(entry.call);
    case 'chosen': return html`<p class="note chosen"><span class="dot quiet" aria-hidden="true"></span>${localize(doings.models.reduce(shortly, entry.text), entry.at, Date.now())}</p>`;
    case 'recovered': return recovery(entry.recovery, doings);
  }
}

const toolStates = { asked: 'waiting', running: 'running', ok: 'done', error: 'failed', unknown: 'outcome unknown', stopped: 'stopped' };

/** Whether the model was told of an error without the tool being called: a person refused, or the arguments do not match. */
function notRun(call: ToolRun): boolean {
  return call.state === 'error' && !call.beganAt;
}

function tool(call: ToolRun): TemplateResult {
  const result = call.result ?? '';
  return html`
    <details class="tool ${notRun(call) ? 'stopped' : call.state}">
      <summary>
        <span class="mark" aria-hidden="true"></span><code>${call.name}</code>
        <span class="meta">${[notRun(call) ? 'not run' : toolStates[call.state], call.elapsedMs === undefined ? '' : took(call.elapsedMs)].filter(Boolean).join(' · ')}</span>
        ${call.says ? html`<span class="says">${call.says}</span>` : html`<span class="says">${brief(call)}</span>`}
      </summary>
      <div class="inside">
        <h3>Arguments</h3>
        <pre class="raw" tabindex="0">${plainJson(call.args, MAX_RESULT)}</pre>
        ${call.result === undefined ? nothing : html`
          <h3>${notRun(call) ? 'What the model was told' : call.state === 'error' ? 'Error' : 'Result'}</h3>
          <pre class="raw" tabindex="0">${result.slice(0, MAX_RESULT)}${result.length > MAX_RESULT ? `\n… ${result.length - MAX_RESULT} more characters` : ''}</pre>`}
      </div>
    </details>`;
}

/** How much of a call its row shows, in characters. */
const BRIEF = 160;

/** A tool's arguments and its result, on one line. */
function brief(call: ToolRun): string {
  const args = plainJson(call.args, MAX_RESULT).replace(/^\{|\}$/g, '').replace(/\s+/g, ' ').trim();
  const came = call.result === undefined ? '' : ` → ${call.result.replace(/\s+/g, ' ').trim()}`;
  const text = `${args.length > BRIEF / 2 ? `${args.slice(0, BRIEF / 2)}…` : args}${came}`;
  return text.length > BRIEF ? `${text.slice(0, BRIEF)}…` : text;
}

/** One grey line, which expands to all attempts with the raw errors. */
function recovery(r: Recovery, doings: Doings): TemplateResult {
  return html`
    <div class="recovery">
      <details>
        <summary><span class="dot good" aria-hidden="true"></span>${[r.from, r.switchedTo].reduce(shortly, r.text)}</summary>
        ${r.passedOver ? html`<p class="attempt"><strong>${r.passedOver.title}</strong> <span class="meta">${r.passedOver.message}</span></p>` : nothing}
        <ol class="attempts">
          ${r.tried.map((t) => html`
            <li>
              <p class="attempt"><strong>${t.failure.title}</strong> <span class="meta">${written(t.model)} · ${took(t.ms)}</span></p>
              ${failureLine(t.failure)}
              ${decided(t) ? html`<p class="meta decided">${decided(t)}</p>` : nothing}
            </li>`)}
        </ol>
      </details>
      ${r.tried.length ? tries(doings.run, r) : nothing}
      ${r.switchedTo && doings.newest ? nextModel(r.from, r.switchedTo, doings) : nothing}
    </div>`;
}

/** A switch applies to its run: shows where the next message goes, and how to change that. */
function nextModel(from: string, to: string, doings: Doings): TemplateResult | typeof nothing {
  if (doings.model === to) {
    return html`<p class="next"><button class="link" @click=${() => doings.choose(from)} title="The next message goes to ${modelName(from)}">Switch back</button></p>`;
  }
  return doings.model === from ? html`
    <p class="next">Your next message goes to ${modelName(from)} again.
      <button class="link" @click=${() => doings.choose(to)} title="The next message goes to ${modelName(to)}">Keep ${modelName(to)}</button></p>` : nothing;
}
