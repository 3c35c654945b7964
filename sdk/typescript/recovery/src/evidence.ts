const MAX_BODY = 64 << 10;
const MAX_MESSAGE = 8 << 10;
const MAX_NAME = 256;
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'x-api-key', 'api-key', 'x-goog-api-key', 'cookie', 'set-cookie']);

/** What is known of a failure, in the words of POST /v1/decide. */
export interface Evidence {
  status?: number;
  headers?: Record<string, string>;
  body?: string;
  message?: string;
  code?: string;
  exception?: string;
  when?: 'before_connect' | 'before_first_event' | 'mid_stream' | 'end_of_stream' | 'prompt';
  kind?: string;
}

type Facts = Record<string, unknown>;

/** What an error says, with what it was caused by: hosts wrap the errors of their libraries. */
export function evidenceOf(error: unknown): Evidence {
  const evidence: Evidence = {};
  const chain = [...causes(error)];
  for (const one of chain) {
    evidence.status ??= statusOf(one)!;
    evidence.headers ??= headersOf(one)!;
    evidence.body ??= bodyOf(one)!;
    evidence.code ??= textOf(one['code'], MAX_NAME)!;
  }
  // Without an answer the innermost one was there when it happened.
  const told = evidence.status === undefined ? chain.at(-1) : chain[0];
  evidence.message = textOf(told?.['message'], MAX_MESSAGE) ?? clip(String(error), MAX_MESSAGE);
  evidence.exception = textOf(told?.['name'], MAX_NAME) ?? typeof error;
  return Object.fromEntries(Object.entries(evidence).filter(([, value]) => value !== undefined));
}

function* causes(error: unknown): Generator<Facts> {
  const seen = new Set<unknown>();
  for (let one = error; typeof one === 'object' && one !== null && !seen.has(one) && seen.size < 8;) {
    seen.add(one);
    yield one as Facts;
    const { cause, lastError } = one as Facts; // the AI SDK's RetryError has its last one
    one = cause ?? lastError;
  }
}

function statusOf(error: Facts): number | undefined {
  const status = error['statusCode'] ?? error['status'] ?? (error['response'] as Facts | undefined)?.['status'];
  return typeof status === 'number' && Number.isInteger(status) && status >= 100 && status <= 599 ? status : undefined;
}

function headersOf(error: Facts): Record<string, string> | undefined {
  const headers = error['responseHeaders'] ?? error['headers'] ?? (error['response'] as Facts | undefined)?.['headers'];
  if (typeof headers !== 'object' || headers === null) {
    return undefined;
  }
  const pairs = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const kept = pairs.filter(([name]) => !CREDENTIALS.has(name.toLowerCase())).slice(0, 64);
  return kept.length ? Object.fromEntries(kept.map(([name, value]) => [name, clip(String(value), 1024)])) : undefined;
}

function bodyOf(error: Facts): string | undefined {
  const body = error['responseBody'] ?? error['body'] ?? error['error'];
  if (typeof body !== 'object' || body === null) {
    return textOf(body, MAX_BODY);
  }
  try {
    return clip(JSON.stringify(body), MAX_BODY);
  } catch {
    return undefined; // it goes round in a circle
  }
}

function textOf(value: unknown, most: number): string | undefined {
  return typeof value === 'string' && value !== '' ? clip(value, most) : undefined;
}

/** The beginning of a text, which has no half of a character at its end. */
function clip(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');
}
