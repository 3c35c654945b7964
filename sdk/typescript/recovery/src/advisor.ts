import { type Evidence, evidenceOf } from './evidence.js';

const MOST = 1 << 20;

/** What to do about a failed call; `acts` says whether to. */
export interface Advice {
  /** That the call is in Mulligan's timeline. */
  run?: string;
  failure?: { kind?: string; code?: string; title?: string; message?: string; retryable?: boolean; [more: string]: unknown };
  decision: { action?: string; delayMs?: number; newModel?: string; reason?: string; by?: Record<string, unknown>; blockedBy?: string; adjust?: Record<string, unknown>; [more: string]: unknown };
  /** meta.recoverySuggestion: what a person is to be asked, with its buttons. */
  recoverySuggestion?: Record<string, unknown>;
}

/** Whether advice is to be acted on: wait `delayMs`, and call `newModel` if there is one. Else fail as without Mulligan. */
export function acts({ decision, recoverySuggestion }: Advice): boolean {
  return (decision.action === 'retry' || decision.action === 'switch_model') && !decision.blockedBy && !recoverySuggestion;
}

export interface AdvisorOptions {
  /** Of `mulligan serve`; by default MULLIGAN_URL, else http://127.0.0.1:8484. */
  url?: string | undefined;
  /** By default MULLIGAN_TOKEN, else that of the state folder. */
  token?: string | undefined;
  /** How long an answer is waited for, in milliseconds; by default 250. */
  timeout?: number;
  /** Whether you act by yourself, by default true; undefined is as Mulligan is configured. */
  autoRecover?: boolean | undefined;
  /** Who is told, once, that there is no advice; by default console.warn. */
  warn?: (text: string) => void;
  fetch?: typeof fetch;
}

/** Asks Mulligan. It fails open: where no answer comes in time, there is no advice, and that is said once. */
export class Advisor {
  readonly url: string;
  readonly timeout: number;
  readonly #options: AdvisorOptions;
  #token: string | undefined;
  #said = false;

  constructor(options: AdvisorOptions = {}) {
    this.url = (options.url ?? env('MULLIGAN_URL') ?? 'http://127.0.0.1:8484').replace(/\/+$/, '');
    this.timeout = options.timeout ?? 250;
    this.#options = { autoRecover: true, ...options };
    this.#token = options.token ?? env('MULLIGAN_TOKEN');
  }

  /** One model call, which may have several attempts. facts are more fields of the question. */
  call(model: string, alternatives: Iterable<string> = [], facts: Record<string, unknown> = {}): Call {
    return new Call(this, model, [...alternatives], facts);
  }

  /** POST /v1/decide; undefined is "as without Mulligan". */
  async decide(question: { call: string; model: string; failure: Evidence; [more: string]: unknown }): Promise<Advice | undefined> {
    const { autoRecover } = this.#options;
    return await this.#ask('/v1/decide', autoRecover === undefined ? question : { autoRecover, ...question }, adviceOf);
  }

  /** POST /v1/outcome: there is an answer, or the call is given up. */
  async outcome(told: { call: string; ok: boolean; model?: string; failure?: Evidence }): Promise<void> {
    await this.#ask('/v1/outcome', told, () => true);
  }

  async #ask<T>(path: string, body: object, read: (reply: unknown) => T): Promise<T | undefined> {
    const late = new AbortController();
    const silence = new Error(`no answer within ${this.timeout} ms`);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => { late.abort(silence); reject(silence); }, this.timeout);
    });
    try {
      return await Promise.race([this.#send(path, body, late.signal).then(read), deadline]);
    } catch (error) {
      this.#say(error);
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  async #send(path: string, body: object, signal: AbortSignal): Promise<unknown> {
    const answer = await (this.#options.fetch ?? fetch)(this.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${await this.#secret()}` },
      body: JSON.stringify(body),
      signal,
    });
    if (!answer.ok) {
      await answer.body?.cancel();
      throw new Error(`status ${answer.status}`);
    }
    return JSON.parse(await textOf(answer));
  }

  async #secret(): Promise<string> {
    if (!this.#token) {
      const [{ readFile }, { homedir }, { join }] = await Promise.all([import('node:fs/promises'), import('node:os'), import('node:path')]);
      const state = env('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state');
      this.#token = (await readFile(join(state, 'mulligan', 'token'), 'utf8')).trim();
    }
    return this.#token;
  }

  #say(error: unknown): void {
    if (!this.#said) {
      this.#said = true;
      const { message, cause } = error as Error;
      const why = cause instanceof Error && cause.message ? cause.message : message;
      (this.#options.warn ?? console.warn)(`Mulligan at ${this.url} gives no advice (${why}): failures are handled as without it`);
    }
  }
}

/** A model call and its attempts. */
export class Call {
  readonly id = crypto.randomUUID();
  /** Who is to be asked, the next time. */
  model: string;
  attempt = 0;
  advice: Advice | undefined;
  readonly #advisor: Advisor;
  readonly #alternatives: string[];
  readonly #facts: Record<string, unknown>;

  constructor(advisor: Advisor, model: string, alternatives: string[], facts: Record<string, unknown>) {
    this.#advisor = advisor;
    this.model = model;
    this.#alternatives = alternatives;
    this.#facts = facts;
  }

  /** What to do about the attempt that failed. Where that is to be acted on, model is who is to be asked next. */
  async ask(error: unknown, facts: Record<string, unknown> = {}): Promise<Advice | undefined> {
    const { id: call, attempt, model } = this;
    this.attempt += 1;
    this.advice = await this.#advisor.decide({ call, attempt, model, alternatives: this.#alternatives, failure: evidenceOf(error), ...this.#facts, ...facts });
    if (this.advice && acts(this.advice) && this.advice.decision.newModel) {
      this.model = this.advice.decision.newModel;
    }
    return this.advice;
  }

  /**
   * Asks, and waits as long as it is told to; true where another attempt is to be made, of model. What ended
   * because signal did is no failure, and is not asked about.
   */
  async failed(error: unknown, signal?: AbortSignal | null): Promise<boolean> {
    if (signal?.aborted) {
      return false;
    }
    const advice = await this.ask(error);
    return advice !== undefined && acts(advice) && await passed(advice.decision.delayMs ?? 0, signal);
  }

  /** There is an answer. Mulligan is told where it was asked. */
  answered(): Promise<void> | undefined {
    return this.advice && this.#advisor.outcome({ call: this.id, ok: true, model: this.model });
  }
}

const LONGEST = 2 ** 31 - 1;

/** Waits; false where signal ended before. */
export async function passed(ms: number, signal?: AbortSignal | null): Promise<boolean> {
  for (let left = ms; left > 0 && !signal?.aborted; left -= LONGEST) {
    await new Promise<void>((resolve) => {
      const over = () => { clearTimeout(timer); signal?.removeEventListener('abort', over); resolve(); };
      const timer = setTimeout(over, Math.min(left, LONGEST));
      signal?.addEventListener('abort', over);
    });
  }
  return !signal?.aborted;
}

/** The text of an answer, of which there is not too much. */
async function textOf(answer: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const piece of answer.body ?? []) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > MOST) {
      throw new Error('the answer is too long');
    }
  }
  return text + decoder.decode();
}

function adviceOf(reply: unknown): Advice {
  const { decision } = reply as Advice;
  const { delayMs = 0, newModel = '', action = '' } = decision;
  if (typeof delayMs !== 'number' || !(delayMs >= 0) || typeof newModel !== 'string' || typeof action !== 'string') {
    throw new Error('the answer is no advice');
  }
  return reply as Advice;
}

function env(name: string): string | undefined {
  return (typeof process === 'undefined' ? undefined : process.env[name]) || undefined;
}
