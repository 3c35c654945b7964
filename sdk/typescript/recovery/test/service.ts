import { Advisor, type AdvisorOptions } from '../src/index.js';

/** An advisor of a service that answers what it is given, in turn, and what it was asked and said. */
export function scripted(replies: (object | string)[], options: AdvisorOptions = {}) {
  const asked: [path: string, body: Record<string, unknown>][] = [];
  const warned: string[] = [];
  const advisor = new Advisor({
    url: 'http://mulligan',
    token: 't',
    timeout: 60_000,
    warn: (text) => warned.push(text),
    fetch: async (url, init) => {
      asked.push([new URL(String(url)).pathname, JSON.parse(String(init?.body))]);
      const reply = replies.shift() ?? {};
      return reply instanceof Response ? reply : new Response(typeof reply === 'string' ? reply : JSON.stringify(reply));
    },
    ...options,
  });
  return { advisor, asked, warned };
}

export const retry = { decision: { action: 'retry', delayMs: 1 } };
export const fail = { decision: { action: 'fail', reason: 'nothing helps' } };
export const switchTo = (newModel: string) => ({ decision: { action: 'switch_model', newModel } });
