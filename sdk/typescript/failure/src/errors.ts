/**
 * Errors as evidence: those of openai, @anthropic-ai/sdk, the AI SDK, axios, the AWS SDK, fetch and undici, by what they
 * have and not by what they are.
 */

import { classify } from './classify.js';
import type { Evidence, Failure, Phase } from './evidence.js';

/** What the caller knows beside the error. */
export interface About {
  readonly provider?: string;
  /** provider/model */
  readonly model?: string;
  readonly phase?: Phase;
}

/** What an error that was thrown means: `classify` of what it, and what caused it, know. It never throws. */
export function classifyError(error: unknown, about: About = {}): Failure {
  return classify(evidenceOf(error, about));
}

const MAX_CHAIN = 8;

/** What an error, and those that caused it, know of the answer. Its time is now. */
export function evidenceOf(error: unknown, about: About = {}): Evidence {
  const chain = chainOf(error);
  const first = <T>(read: (each: unknown) => T | undefined) => chain.map(read).find((value) => value !== undefined);
  return {
    status: first(statusOf) ?? 0,
    headers: first(headersOf) ?? {},
    body: first(bodyOf) ?? '',
    error: chain.map(textOf).join(': '),
    timedOut: chain.some((each) => /Timeout|TIMEDOUT|TIMEOUT/.test(`${String(get(each, 'name'))} ${String(get(each, 'code'))}`)),
    at: new Date(),
    ...about,
  };
}

/** The error and what caused it; of several at once the first. */
function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let at = error; at !== undefined && at !== null && chain.length < MAX_CHAIN && !chain.includes(at); ) {
    chain.push(at);
    const several = get(at, 'errors');
    at = get(at, 'cause') ?? (Array.isArray(several) ? (several as unknown[])[0] : undefined);
  }
  return chain;
}

/** A property of what may be anything, and may throw. */
function get(thing: unknown, name: string): unknown {
  try {
    return (thing as Record<string, unknown> | null | undefined)?.[name];
  } catch {
    return undefined;
  }
}

function textOf(error: unknown): string {
  if (typeof error !== 'object') {
    return typeof error === 'string' ? error : typeof error;
  }
  const parts = [get(error, 'name'), get(error, 'code'), get(error, 'message')].filter((part) => typeof part === 'string' && part !== '');
  return parts.join(': ');
}

function statusOf(error: unknown): number | undefined {
  const response = get(error, 'response') ?? get(error, '$response');
  return [
    get(error, 'status'), get(error, 'statusCode'), get(response, 'status'), get(response, 'statusCode'), get(get(error, '$metadata'), 'httpStatusCode'),
  ].find((status): status is number => typeof status === 'number' && status >= 100 && status <= 599);
}

function headersOf(error: unknown): NonNullable<Evidence['headers']> | undefined {
  const response = get(error, 'response') ?? get(error, '$response');
  const headers = [get(error, 'headers'), get(error, 'responseHeaders'), get(response, 'headers')].find((each) => typeof each === 'object' && each !== null);
  return headers as NonNullable<Evidence['headers']> | undefined;
}

/** The answer's text where it was kept, else what the client has parsed of it. */
function bodyOf(error: unknown): string | undefined {
  const response = get(error, 'response');
  for (const body of [get(error, 'responseBody'), get(error, 'body'), get(error, 'error'), get(error, 'data'), get(response, 'data')]) {
    if (typeof body === 'string' && body !== '') {
      return body;
    }
    if (typeof body === 'object' && body !== null) {
      const written = json('error' in body ? body : { error: body });
      if (written !== undefined) {
        return written;
      }
    }
  }
  return undefined;
}

function json(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
