import { modelName, type ModelCalls, type Provider, type Providers } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';

import { lasting, moment, seconds, spending } from './figures.js';

/** How the providers perform: a row for each model, below its provider. */
export function providersTable(of: Providers | undefined): TemplateResult {
  const budget = of?.budget && (of.budget.microdollars || of.budget.tokens) ? ` of ${spending(of.budget)}` : '';
  return html`<section class="figured" aria-labelledby="providers">
    <div class="heading"><h2 id="providers">Providers</h2>
      ${of ? html`<p class="meta">Counted here since ${moment(of.since)} · spent today ${spending(of.spent)}${budget}</p>` : nothing}</div>
    ${of?.providers.length ? html`<table class="sheet models">
      <thead><tr><th scope="col">Model</th><th scope="col" class="number">Calls</th><th scope="col" class="number">Failed</th><th scope="col">How they failed</th>
        <th scope="col" class="number">First token</th><th scope="col" class="number">Today</th><th scope="col">Now</th></tr></thead>
      <tbody>${of.providers.map((p) => p.models.map((m, i) => row(p, m, i === 0)))}</tbody>
    </table>` : html`<p class="meta">${of ? 'No model is chosen or has a key, and none was called.' : 'Looking…'}</p>`}
  </section>`;
}

function row(p: Provider, m: ModelCalls, first: boolean): TemplateResult {
  const cooling = m.cooling ?? p.cooling;
  const mark = cooling ? 'ring' : m.ready ? 'dot good' : 'square quiet';
  const none = html`<span class="none">–</span>`;
  return html`<tr>
    <th scope="row"><span class=${mark} aria-hidden="true"></span><span class="model">${modelName(m.name)} <span class="meta">${p.title}</span></span></th>
    <td class="number" data-name="Calls">${m.calls ? m.calls.toLocaleString('en-US') : none}</td>
    <td class="number" data-name="Failed">${m.failed ? html`${m.failed.toLocaleString('en-US')} <span class="meta">${share(m.failed, m.calls)}</span>` : none}</td>
    <td class="how" data-name="How">${m.failures.length ? m.failures.map((f, i) => html`${i ? ', ' : ''}<span>${f.kind.replaceAll('_', ' ')} ${f.calls}</span>`) : none}</td>
    <td class="number" data-name="First token">${m.firstP95Ms ? html`${seconds(m.firstP50Ms ?? 0)} <span class="meta">p95 ${seconds(m.firstP95Ms)}</span>` : none}</td>
    <td class="number" data-name="Today">${m.microdollarsToday || m.tokensToday ? spending({ microdollars: m.microdollarsToday ?? 0, tokens: m.tokensToday ?? 0 }) : none}</td>
    <td class="now" data-name="Now">${now(cooling, p, m, first)}</td>
  </tr>`;
}

/** What is happening now; a provider's calls wait together, so its queue is shown once. */
function now(cooling: ModelCalls['cooling'], p: Provider, m: ModelCalls, first: boolean): string {
  const left = cooling ? Date.parse(cooling.until) - Date.now() : 0;
  return [
    cooling && `cools down ${left < 90_000 ? `for ${lasting(left)}` : `until ${moment(cooling.until)}`} (${cooling.kind.replaceAll('_', ' ')})`,
    first && p.queued > 0 && `${p.queued === 1 ? '1 call waits' : `${p.queued} calls wait`} for a turn`,
    m.inAir && `${m.inAir} in the air`,
    !m.ready && 'has no key',
  ].filter(Boolean).join(' · ') || 'ready';
}

function share(part: number, all: number): string {
  const percent = (part / Math.max(1, all)) * 100;
  return percent < 1 ? '<1 %' : `${Math.round(percent)} %`;
}
