// Answers each line of evidence with a line of what is made of it: failure/ports_test.go of the Go package asks.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { classify, type Evidence, type Failure } from '../src/index.js';

type Text = string | { base64: string } | { head: string; unit: string; times: number; tail: string };

export type Row = Omit<Evidence, 'body' | 'error' | 'at'> & { body?: Text; error?: Text; at?: string };

function textOf(text: Text): string | Uint8Array {
  if (typeof text === 'string') {
    return text;
  }
  return 'base64' in text ? Buffer.from(text.base64, 'base64') : text.head + text.unit.repeat(text.times) + text.tail;
}

/** The fields as Go writes them. */
function fieldsOf({ resetsAt, ...f }: Failure): Record<string, unknown> {
  const time = resetsAt && { resetsAt: resetsAt.toISOString().replace(/\.?0+Z$/, 'Z') };
  const always = { kind: f.kind, code: f.code, origin: f.origin, phase: f.phase, retryable: f.retryable, title: f.title, message: f.message };
  return { ...Object.fromEntries(Object.entries(f).filter(([, value]) => value)), ...time, ...always };
}

export function answer({ body, error, at, ...row }: Row): Record<string, unknown> {
  return fieldsOf(
    classify({
      ...row,
      body: textOf(body ?? ''),
      ...(error !== undefined && { error: String(textOf(error)) }),
      ...(at !== undefined && { at: new Date(at) }),
    }),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(answer(JSON.parse(line) as Row)) + '\n');
  }
}
