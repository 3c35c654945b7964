import { entryOf, localize, modelName, providerName, spell, statusUrl, type Button, type Failure, type TriedFailure } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';

/** A model's name among others: without its provider entry, unless two would have the same name. */
export function modelAmong(model: string, all: string[]): string {
  const name = modelName(model);
  return all.some((other) => other !== model && modelName(other) === name) ? model : name;
}

/** A button's label, with its model's short name. */
export function labelOf(button: Button, all: Button[]): string {
  return button.model ? button.label.replace(button.model, modelAmong(button.model, all.map((b) => b.model ?? ''))) : button.label;
}

/** "Anthropic · claude-opus". */
export function written(model: string): string {
  return `${modelName(model)} · ${providerName(entryOf(model))}`;
}

/** A text with a model's short name in place of its full one. */
export function shortly(text: string, model: string | undefined): string {
  return model ? text.replaceAll(model, modelName(model)) : text;
}

/** A failure's message, in which the name of a status page is a link. */
export function linked(f: Failure, text: string): TemplateResult {
  const entry = f.provider || entryOf(f.model ?? '');
  const name = `${providerName(entry)} status`;
  const url = statusUrl(entry);
  const at = url ? text.indexOf(name) : -1;
  if (at < 0) {
    return html`${text}`;
  }
  return html`${text.slice(0, at)}<a href=${url} target="_blank" rel="noopener noreferrer">${name}</a>${text.slice(at + name.length)}`;
}

/** Everything known about a failure, as plain text. */
export function details(f: Failure): string {
  return [localize(`${f.title}. ${f.message}`, f.resetsAt, Date.now()), ...facts(f, []).map(([name, value]) => `${name}: ${value}`), ...(f.detail ? ['', f.detail] : [])].join('\n');
}

function facts(f: Failure, more: [string, string | undefined][]): [string, string][] {
  const all: [string, string | undefined][] = [
    ['Error', f.code], ['Kind', f.variant ? `${f.kind} (${f.variant})` : f.kind], ['Classified by', f.row], ['Model', f.model], ['HTTP status', f.httpStatus ? String(f.httpStatus) : undefined],
    ['Provider code', f.providerCode], ['Request', f.requestId], ['Timer', f.timer], ['Tool', f.tool], ...more,
  ];
  return all.filter((fact): fact is [string, string] => !!fact[1]);
}

/** Everything known about a failure. */
export function failureDetails(f: Failure, more: [string, string | undefined][] = []): TemplateResult {
  return html`
    <dl class="facts">${facts(f, more).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${f.detail ? html`<pre class="raw" tabindex="0">${f.detail}</pre>` : nothing}`;
}

/** A failure's facts on one line, and the provider's own words. */
export function failureLine(f: Failure): TemplateResult {
  return html`
    <p class="codes">${facts(f, []).filter(([name]) => name !== 'Model' && name !== 'Kind').map(([, value]) => value).join(' · ')}</p>
    ${f.detail ? html`<pre class="raw" tabindex="0">${f.detail}</pre>` : nothing}`;
}

/** A sentence in which `…` marks what to type. */
export function sentenceOf(text: string): (string | TemplateResult)[] {
  return text.split('`').map((piece, i) => (i % 2 === 1 ? html`<code>${piece}</code>` : piece));
}

/** Where to put a key; names the environment variable if it is known. */
export function keyHelp(variable: string | undefined, then = ''): TemplateResult {
  return variable ?
    html`<p class="help">Stop Mulligan and start it again with the key: <code>${variable}=… mulligan serve</code>. ${then}</p>` :
    html`<p class="help">Put the key where <code>mulligan serve</code> reads it; <code>mulligan doctor</code> says where that is. ${then}</p>`;
}

/** A tool's arguments, at most this many characters. */
export function plainJson(value: unknown, most: number): string {
  try {
    const text = JSON.stringify(value, null, 2) ?? '';
    return text.length > most ? `${text.slice(0, most)}\n… ${(text.length - most).toLocaleString('en-US')} more characters` : text;
  } catch {
    return '(nested too deep to show)';
  }
}

/** How long something took: "180 ms", "14 s". */
export function took(ms: number): string {
  return ms < 1000 ? `${ms} ms` : spell(ms);
}

/** What was decided about a failed attempt, and by whom. */
export function decided(t: TriedFailure): string {
  if (t.chosen) {
    return t.chosen;
  }
  const d = t.decision;
  if (!d?.action) {
    return '';
  }
  const what = { retry: 'retry', switch_model: `switch to ${modelName(d.newModel ?? '')}`, fail: 'give up' }[d.action] ?? d.action;
  return d.by ? `${d.by.plugin}: ${what}${d.reason ? `, ${d.reason}` : ''}` : what;
}
