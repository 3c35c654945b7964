import { modelName, spoken, type Button, type Card, type Failure, type Seen, type Suggestion, type View } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';

import { details, failureDetails, keyHelp, labelOf, linked, modelAmong, plainJson, shortly, took } from './words.js';

/** What the buttons below a run do. */
export interface Actions {
  answer: (action: Button) => void;
  client: (action: Button, f: Failure) => void;
  choose: (model: string) => void;
  stop: () => void;
  copy: (text: string) => void;
}

/** What a card needs to know besides the run. */
export interface CardState {
  /** The person's answer is being sent. */
  answering: boolean;
  /** The kind of the last client action: "choose_model", "fix_key", "copied". */
  opened: string;
  /** Says what the failure really is. */
  correction: (f: Failure) => TemplateResult;
}

/** The modifier key of the shortcuts, before the number. */
const altKey = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌥' : 'Alt ';

/** The states' symbols, so that colour is not the only sign. */
const shapes: Partial<Record<Seen['state'], string>> = {
  retry_wait: 'dot warn', retry_now: 'dot warn pulse', switching: 'dot warn pulse', wait_reset: 'ring', wait_online: 'ring', wait_store: 'ring', wait_tool: 'ring', wait_machine: 'ring',
  thinking: 'dot busy pulse', slow: 'dot busy pulse', tool: 'dot busy pulse', tool_slow: 'dot busy pulse', compacting: 'dot busy pulse', stopping: 'dot busy pulse',
  stopped: 'square quiet', expired: 'ring', superseded: 'ring',
};

/** The status line of a run in progress; one role=status announces each state once. */
export function line(s: Seen, actions: Actions): TemplateResult {
  const quiet = s.card !== undefined || s.line.length === 0;
  return html`
    <div class="status ${quiet ? 'sr' : ''}" data-state=${s.state}>
      <p class="line">
        ${quiet ? nothing : html`<span class=${shapes[s.state] ?? 'dot busy'} aria-hidden="true"></span>`}
        <span role="status">${s.card ? spoken(s) : s.line.map((p) => (p.tick ? html`<span class="tick" aria-hidden="true">${p.text}</span>` : html`${shortly(p.text, s.model)}`))}</span>
      </p>
      ${quiet ? nothing : lineActions(s, actions)}
    </div>`;
}

/** What can be done about it. If there are several models, the line has only the first. */
function lineActions(s: Seen, actions: Actions): TemplateResult | typeof nothing {
  const list = s.actions.filter((b) => b.kind !== 'switch_model' || b === s.actions.find((first) => first.kind === 'switch_model'));
  if (list.length === 0 && !s.stop) {
    return nothing;
  }
  return html`
    <div class="lineactions">
      ${list.map((b, i) => html`
        <button class="link" data-kind=${b.kind} aria-keyshortcuts="Alt+${i + 1}" title="${altKey}${i + 1}" @click=${() => actions.answer(b)}>${labelOf(b, s.actions)}</button>`)}
      ${s.stop ? html`<button class="link" aria-keyshortcuts="Escape" title="Esc" @click=${actions.stop}>Stop</button>` : nothing}
    </div>`;
}

/** How much of a tool's arguments a card shows, in characters. */
const MAX_ARGUMENTS = 2000;

/** The card of an open suggestion. */
export function card(seen: Seen, c: Card, s: Suggestion, v: View, state: CardState, actions: Actions, keyEnv: string | undefined): TemplateResult {
  const f = s.error;
  const why = reason(c, seen.actions);
  return html`
    <section class="card" role="group" aria-labelledby="card-title" aria-describedby="card-message" ?data-answering=${state.answering}>
      <h3 id="card-title"><span class=${c.grave ? 'square bad' : 'dot attention'} aria-hidden="true"></span>${c.title}</h3>
      <p class="message" id="card-message">${linked(f, c.message ?? '')}${c.tried ? ` ${c.tried}` : ''}</p>
      ${calledWith(c)}
      ${why ? html`<p class="why">${why}</p>` : nothing}
      ${buttons(seen.actions, f, state, actions)}
      ${help(state, s, v, actions, keyEnv)}
      ${c.approval ? nothing : html`<details class="more">
        <summary>Details</summary>
        ${failureDetails(f, [
          ['Decided by', s.decidedBy?.plugin],
          ['Why you are asked', c.limit],
        ])}
        ${s.tried.length > 1 ? html`
          <ol class="tried">${s.tried.map((t) => html`<li><span>${modelName(t.model)}</span> <span class="meta">${t.code} · ${took(t.ms)}</span></li>`)}</ol>` : nothing}
        <button class="link" @click=${() => actions.copy(details(f))}>${state.opened === 'copied' ? 'Copied' : 'Copy details'}</button>
        ${state.correction(f)}
      </details>`}
    </section>`;
}

/** Who suggests what comes first, and why, with the short names of its models: "auto-recover suggests Retry: it may pass by itself". */
function reason(c: Card, actions: Button[]): string {
  const models = actions.flatMap((b) => b.model ?? []);
  return models.reduce((why, model) => why.replaceAll(model, modelAmong(model, models)), c.why ?? '');
}

/** The arguments of a tool call with an unknown outcome, because only a person who sees them can decide. */
function calledWith(c: Card): TemplateResult | typeof nothing {
  return c.call ? html`<pre class="raw called" tabindex="0" aria-label="What ${c.call.name} was called with">${plainJson(c.call.args, MAX_ARGUMENTS)}</pre>` : nothing;
}

/** The offered actions, in order; several other models are combined into one button, at the place of the first. */
function offered(actions: Button[]): Button[][] {
  const models = actions.filter((b) => b.kind === 'switch_model' && !b.primary);
  const menu = models.length > 1 ? models : [];
  return actions.filter((b) => !menu.includes(b) || b === menu[0]).map((b) => (b === menu[0] ? menu : [b]));
}

function buttons(list: Button[], f: Failure, state: CardState, actions: Actions): TemplateResult {
  return html`
    <div class="buttons">
      ${offered(list).map((group, i) => {
        const keys = i < 4 ? `Alt+${i + 1}` : nothing;
        const hint = i < 4 ? html`<kbd aria-hidden="true">${altKey}${i + 1}</kbd>` : nothing;
        return group.length === 1 && group[0] ? button(group[0], list, f, state, actions, keys, hint) : html`
          <details class="models">
            <summary aria-keyshortcuts=${keys}><span>Switch model</span><span class="open" aria-hidden="true"></span>${hint}</summary>
            <div class="choices">${group.map((b) => button(b, list, f, state, actions, nothing, nothing))}</div>
          </details>`;
      })}
    </div>`;
}

function button(b: Button, list: Button[], f: Failure, state: CardState, actions: Actions, keys: string | typeof nothing, hint: TemplateResult | typeof nothing): TemplateResult {
  if (b.url && /^https?:\/\//.test(b.url)) { // an action of a plugin's own
    return html`<a class="button" href=${b.url} target="_blank" rel="noopener noreferrer" data-kind=${b.kind} aria-keyshortcuts=${keys}><span>${b.label}</span>${hint}</a>`;
  }
  return html`
    <button class=${b.primary ? 'primary' : b.kind === 'stop' ? 'last' : ''} data-kind=${b.kind} ?disabled=${state.answering} aria-keyshortcuts=${keys}
      @click=${() => (b.effect === 'client' ? actions.client(b, f) : actions.answer(b))}>
      <span>${b.kind === 'copy_details' && state.opened === 'copied' ? 'Copied' : labelOf(b, list)}</span>${hint}
    </button>`;
}

function help(state: CardState, s: Suggestion, v: View, actions: Actions, keyEnv: string | undefined): TemplateResult | typeof nothing {
  switch (state.opened) {
    case 'fix_key':
      return keyHelp(keyEnv, 'Then choose Retry: this conversation is kept.');
    case 'add_credit':
      return html`<p class="help">Add credit in your account at the provider, then choose Retry.</p>`;
    case 'choose_model': {
      const models = v.models.filter((m) => m !== s.error.model);
      return html`
        <label class="help">Continue with
          <select @change=${(e: Event) => actions.choose((e.target as HTMLSelectElement).value)}>
            <option value="">Choose a model…</option>
            ${models.map((m) => html`<option value=${m}>${modelAmong(m, models)}</option>`)}
          </select>
        </label>`;
    }
  }
  return nothing;
}

/** The card of a run that failed with nothing left to offer. */
export function failedCard(c: Card, f: Failure | undefined, state: CardState, actions: Actions): TemplateResult {
  return html`
    <section class="card failed" role="group" aria-labelledby="failed-title">
      <h3 id="failed-title"><span class="square bad" aria-hidden="true"></span><span class="sr">Failed: </span>${c.title}</h3>
      ${f && c.message ? html`<p class="message">${linked(f, c.message)}</p>` : nothing}
      ${f ? html`
        <details class="more" open>
          <summary>Details</summary>
          ${failureDetails(f)}
          <button class="link" @click=${() => actions.copy(details(f))}>${state.opened === 'copied' ? 'Copied' : 'Copy details'}</button>
          ${state.correction(f)}
        </details>` : nothing}
    </section>`;
}
