import { type Header, modelName, type Rescue, type Span, type SpanAttempt, type SpanFailure, type Vote } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';

import { took } from './words.js';

/** A name and its value; without a value it is left out. */
type Fact = [name: string, value: string | number | undefined | false];

function facts(list: Fact[]): TemplateResult {
  return html`<dl class="facts">${list.filter(([, value]) => value !== undefined && value !== '' && value !== false).map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** Everything known about a span. */
export function opened(run: Rescue, s: Span): TemplateResult {
  return html`
    ${s.attempt ? html`<div class="both">${sent(run, s, s.attempt)}${cameBack(s, s.attempt)}</div>` : nothing}
    ${s.tool ? tool(s) : nothing}
    ${s.failure ? failed(s.failure) : nothing}
    ${s.attempt || s.tool || s.failure ? nothing : html`<section><p>${s.detail || (s.kind === 'person' ? 'A person was asked.' : 'Nothing but time passed.')}</p>${facts([['Began after', took(s.from)], ['Then asks', s.model && modelName(s.model)]])}</section>`}`;
}

function bytes(n: number | undefined): string {
  return n === undefined ? '' : n < 1000 ? `${n} bytes` : n < 1e6 ? `${(n / 1000).toFixed(1)} KB` : `${(n / 1e6).toFixed(1)} MB`;
}

function sent(run: Rescue, s: Span, a: SpanAttempt): TemplateResult {
  const left = run.asked.messagesLeftOut ?? 0;
  const body = run.asked.messages.slice(0, Math.max(0, a.messages - left));
  const adjust = a.adjust;
  return html`<section>
    <h3>What was sent</h3>
    ${facts([
      ['Why', a.switched ? 'another model was chosen' : a.retry ? 'it was tried again' : a.try > 0 ? 'the call went on' : 'the conversation goes on'],
      ['Size', `${a.messages === 1 ? '1 message' : `${a.messages} messages`}, about ${bytes(a.bytes ?? 0)}`],
      ['System text', run.asked.systemBytes && bytes(run.asked.systemBytes)],
      ['Tools', run.asked.tools?.join(', ')],
      ['Goes on from', a.continues && `the text of attempt ${a.continues}`],
      ['Changed', adjust && Object.entries(adjust).map(([name, value]) => `${name}: ${value}`).join(', ')],
      ['Headers', !a.headers && (s.state === 'failed' ? 'not known' : 'kept only if an attempt fails')],
    ])}
    ${a.headers ? headers('headers that it was sent with', a.headers.sent ?? [], a.headers.sentMore) : nothing}
    <details class="body"><summary>The conversation that it was sent</summary>
      ${left > 0 ? html`<p class="meta">The first ${left} messages are left out.</p>` : nothing}
      <ol>${body.map((m) => html`<li><span class="role">${m.role === 'assistant' && m.model ? modelName(m.model) : m.role}</span><pre class="raw" tabindex="0">${m.text || '(no text)'}${m.bytes > m.text.length + 3 && !run.redacted ? '\n…' : ''}</pre></li>`)}</ol>
    </details>
  </section>`;
}

/** Headers; one without a value may hold a secret, which was never written down. */
function headers(what: string, list: Header[], more = 0): TemplateResult | typeof nothing {
  const all = list.length + more;
  return all === 0 ? nothing : html`<details class="body"><summary>${all === 1 ? `1 ${what.replace('headers', 'header')}` : `${all} ${what}`}</summary>
    <dl class="headers">${list.map((h) => html`<div><dt>${h.name}</dt><dd>${h.value ?? html`<span class="meta">hidden</span>`}</dd></div>`)}</dl>
    ${more > 0 ? html`<p class="meta">${list.length ? `and ${more} more, which ${more === 1 ? 'is' : 'are'} not kept` : 'not kept'}</p>` : nothing}
  </details>`;
}

function cameBack(s: Span, a: SpanAttempt): TemplateResult {
  return html`<section>
    <h3>What came back</h3>
    ${facts([
      ['First word after', a.firstEventMs && took(a.firstEventMs)],
      ['Tokens', a.tokens && `${a.tokens.toLocaleString('en-US')} (${(a.outputTokens ?? 0).toLocaleString('en-US')} written)`],
      ['Cost', a.microdollars && `$${(a.microdollars / 1e6).toFixed(a.microdollars < 10_000 ? 4 : 2)}`],
      ['Request', a.requestId],
    ])}
    ${a.headers ? headers('headers that came back', a.headers.received ?? [], a.headers.receivedMore) : nothing}
    ${a.text ? html`<pre class="raw" tabindex="0" aria-label="What it said">${a.text}</pre>` : html`<p class="meta">${s.state === 'open' ? 'Nothing yet that is written down.' : 'No text.'}</p>`}
  </section>`;
}

function tool(s: Span): TemplateResult {
  return html`<section>
    <h3>The call</h3>
    ${facts([['Outcome', s.tool?.outcome ?? 'not known yet'], ['Try', s.tool && s.tool.try > 0 && `${s.tool.try + 1}`], ['Call', s.tool?.callId]])}
    ${s.tool?.args ? html`<h3>Arguments</h3><pre class="raw" tabindex="0">${s.tool.args}</pre>` : nothing}
    ${s.tool?.result ? html`<h3>Result</h3><pre class="raw" tabindex="0">${s.tool.result}</pre>` : nothing}
  </section>`;
}

function failed(f: SpanFailure): TemplateResult {
  const v = f.failure;
  return html`<section>
      <h3>Why it failed</h3>
      <p><strong>${v.title}.</strong> ${v.message}</p>
      ${facts([
        ['Kind', v.variant ? `${v.kind} (${v.variant})` : v.kind], ['HTTP status', v.httpStatus], ['Provider code', v.providerCode], ['Request', v.requestId], ['When', v.phase.replaceAll('_', ' ')],
        ['This machine', f.offline && 'was offline'], ['Cooling down', f.cooling?.map((c) => modelName(c.model)).join(', ')], ['Others to ask', f.alternatives?.map((c) => modelName(c.model)).join(', ')],
      ])}
      ${f.evidence?.length ? html`<h3>By what it is known${f.confidence ? html` <span class="meta">· right ${f.confidence} times in 100</span>` : nothing}</h3>
        <ul class="clues">${f.evidence.map((c) => html`<li>${c.decided ? html`<strong>${c.value}</strong>` : c.value} <span class="meta">${[c.source, c.where, c.note].filter(Boolean).join(', ')}</span></li>`)}</ul>` : nothing}
      ${v.detail ? html`<h3>The provider’s words</h3><pre class="raw" tabindex="0">${v.detail}</pre>` : nothing}
    </section>
    <section>
      <h3>What plugins said</h3>
      ${f.votes?.length ? html`<ul class="votes">${f.votes.map((o) => html`<li class=${o.won ? 'won' : 'lost'}>
        <span class="${o.won ? 'dot good' : o.error ? 'square bad' : 'ring'}" aria-hidden="true"></span>
        <span><strong>${o.plugin}</strong> ${said(o)} <span class="meta">${[o.won ? 'counted' : o.lost || (f.decision ? 'did not count' : ''), `${o.latencyMs}\u00a0ms`].filter(Boolean).join(' · ')}</span>
        ${o.error || o.reason ? html`<br><span class="meta">${o.error || o.reason}</span>` : nothing}</span></li>`)}</ul>` : html`<p class="meta">Nobody was asked.</p>`}
      <h3>What was decided</h3>
      <p>${f.decided || 'Nothing yet.'}</p>
    </section>`;
}

function said(o: NonNullable<SpanFailure['votes']>[number]): string {
  if (o.error) {
    return 'gave no answer';
  }
  const advice = advised(o);
  return o.forbids ? `${o.action ? `${advice}, and ` : ''}forbids ${o.forbids}` : advice;
}

function advised(o: Vote): string {
  const wait = o.delayMs ? ` in ${took(o.delayMs)}` : '';
  switch (o.action) {
    case 'retry': return `says retry${wait}`;
    case 'switch_model': return `says switch to ${modelName(o.newModel ?? '')}${wait}`;
    case 'fail': return 'says give up';
  }
  return o.action ? `says ${o.action}` : 'has no opinion';
}
