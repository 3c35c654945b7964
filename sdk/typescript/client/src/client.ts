import { ADVICE_MS, type Advice, type Failed, type Outcome } from './advice.js';
import type {
  AnsweredOne, Asked, Choice, Correction, Defaults, KeyTried, Keys, KindListed, Lab, Lesson, Listed, ManyAnswers, Model, OpenCause, Plugin, Providers, Run, RunQuery, Session, SessionListed, Start,
} from './documents.js';
import type { Item } from './event.js';
import { isBusy, isBusyOrDown, patiently, pauseFor } from './patience.js';
import { Problem } from './problem.js';
import type { Change, Rescue, WhatIf } from './rescue.js';
import { serverEvents } from './sse.js';
import type { AwaitedCall } from './situation.js';
import type { CallResult, Tool } from './tools.js';
import { itemOf, newId, queryOf, runPath } from './words.js';

/** What a client is made from. */
export interface Options {
  /** Where the gateway is: "http://127.0.0.1:7070". The page's own origin by default. */
  url?: string;
  /** The token that `mulligan serve` printed. A page of the gateway's own needs none. */
  token?: string;
  /** Another fetch. */
  fetch?: typeof fetch;
}

/** How a run is followed. */
export interface Follow {
  /** The last event that is known: what comes after it follows. */
  after?: number;
  signal?: AbortSignal;
  /** Told when the connection is lost and when it is back. */
  onConnection?: (connected: boolean) => void;
}

/** A stream without any sign of life for this long is dead: the gateway gives one every 15 s. */
const SILENCE_MS = 40_000;

const RECONNECT_MS = [0, 250, 500, 1000, 2000, 4000];

/** Talks to a gateway. */
export class Client {
  private readonly url: string;
  private readonly token: string | undefined;
  private readonly fetch: typeof fetch;
  private offset = 0;

  constructor(options: Options = {}) {
    this.url = (options.url ?? '').replace(/\/+$/, '');
    this.token = options.token;
    this.fetch = options.fetch ?? ((...args) => fetch(...args));
  }

  /** The time by the gateway's clock, in milliseconds, as far as it is known. */
  now(): number {
    return Date.now() + this.offset;
  }

  /** Begins a run. It begins once, however often the request has to be sent: a gateway that is busy is asked again for up to 30 s. */
  async start(start: Start, key: string = newId()): Promise<Run> {
    return patiently(isBusyOrDown, () => this.timed(() => this.once<Run>('POST', '/v1/runs', start, { 'Idempotency-Key': key })));
  }

  /** Says where a run stands. */
  async run(id: string): Promise<Run> {
    return patiently(isBusy, () => this.timed(() => this.once<Run>('GET', runPath(id))));
  }

  /** Lists runs, newest first. */
  async runs(query: RunQuery = {}): Promise<{ runs: Listed[]; next?: string }> {
    return this.send('GET', `/v1/runs${queryOf(query)}`);
  }

  /** Answers a run's suggestion or live wait, or cuts its model call short; it counts at most once. */
  async recover(id: string, choice: Choice): Promise<Run> {
    return patiently(isBusy, () => this.timed(() => this.once<Run>('POST', `${runPath(id)}/recover`, choice)));
  }

  /** Ends a run. */
  async cancel(id: string): Promise<Run> {
    return patiently(isBusy, () => this.timed(() => this.once<Run>('POST', `${runPath(id)}/cancel`)));
  }

  /**
   * Gives a run results of tool calls that it awaits (`situation.awaited`): all are taken, or none; the same one may be given again.
   * It throws a Problem: 404 for a call that is not awaited, 409 where it has another result, 410 where nobody waits any more.
   */
  async returnToolResults(id: string, results: CallResult[]): Promise<Run> {
    return patiently(isBusy, () => this.timed(() => this.once<Run>('POST', `${runPath(id)}/tool-results`, { results })));
  }

  /** What happened in a run, in retrospect; `texts`: with what was written in it, which is left out otherwise. */
  async rescue(id: string, texts = false): Promise<Rescue> {
    return this.send('GET', `${runPath(id)}/rescue${texts ? '?texts=true' : ''}`);
  }

  /** What would have been decided about a run's failures under a change, each judged for itself. */
  async whatIf(id: string, change: Change, texts = false): Promise<WhatIf> {
    return this.send('GET', `${runPath(id)}/what-if${queryOf({ ...change, ...(texts && { texts }) })}`);
  }

  /** Lists the suggestions that are open, newest first. */
  async suggestions(limit = 50): Promise<Asked[]> {
    return (await this.send<{ suggestions: Asked[] }>('GET', `/v1/suggestions${queryOf({ limit })}`)).suggestions;
  }

  /** What the open suggestions are about, the cause of the most first. */
  async causes(): Promise<OpenCause[]> {
    return (await this.send<{ causes: OpenCause[] }>('GET', '/v1/suggestions/causes')).causes;
  }

  /** Answers many suggestions, each once however often this is asked. */
  async answer(many: ManyAnswers): Promise<{ results: AnsweredOne[]; more?: boolean }> {
    return this.send('POST', '/v1/suggestions/answers', many);
  }

  /** Lists the conversations, the one with the newest run first. */
  async sessions(limit = 50): Promise<SessionListed[]> {
    return (await this.send<{ sessions: SessionListed[] }>('GET', `/v1/sessions${queryOf({ limit })}`)).sessions;
  }

  /** Gives a conversation: its defaults and its runs. */
  async session(id: string, query: { limit?: number; before?: string } = {}): Promise<Session> {
    return this.send('GET', `/v1/sessions/${encodeURIComponent(id)}${queryOf(query)}`);
  }

  /** Sets what a conversation's runs start with. */
  async setSession(id: string, defaults: Defaults): Promise<Session> {
    return this.send('PUT', `/v1/sessions/${encodeURIComponent(id)}`, defaults);
  }

  /** Gives a conversation a title, one line of at most 80 characters; with "" it is called as its first run is. */
  async setSessionTitle(id: string, title: string): Promise<void> {
    await this.send('PUT', `/v1/sessions/${encodeURIComponent(id)}/title`, { title });
  }

  /** Deletes a conversation for good, with all that is kept of its runs; a Problem 409 says that one of them has not ended. */
  async deleteSession(id: string): Promise<void> {
    await this.send('DELETE', `/v1/sessions/${encodeURIComponent(id)}`);
  }

  /** Lists the models that may be chosen. */
  async models(): Promise<Model[]> {
    return (await this.send<{ models: Model[] }>('GET', '/v1/models')).models;
  }

  /** Lists the recovery plugins and how they are. */
  async plugins(): Promise<Plugin[]> {
    return (await this.send<{ plugins: Plugin[] }>('GET', '/v1/plugins')).plugins;
  }

  /** Starts a plugin anew, has it asked no more, or again; a Problem 409 says why it cannot be done. */
  async actOnPlugin(name: string, act: 'restart' | 'disable' | 'enable'): Promise<Plugin> {
    return this.send('POST', `/v1/plugins/${encodeURIComponent(name)}/${act}`);
  }

  /** How the providers do, as the gateway's process has counted. */
  async providers(): Promise<Providers> {
    return this.send('GET', '/v1/providers');
  }

  /** Lists the failures that can be watched without a key, with a model of the gateway's computer: none where it has no such model. */
  async lab(): Promise<Lab> {
    return this.send('GET', '/v1/faultlab');
  }

  /** Has the next call of that model fail so; '' has it answer. */
  async failNext(fault: string): Promise<void> {
    await this.send('PUT', '/v1/faultlab', { fault });
  }

  /** Lists the providers that take an API key, and the model servers of the gateway's computer. */
  async keys(): Promise<Keys> {
    return this.send('GET', '/v1/keys');
  }

  /** Keeps a provider's key on the gateway's computer, where it is used from the next call on. */
  async keepKey(provider: string, key: string): Promise<void> {
    await this.send('PUT', `/v1/keys/${encodeURIComponent(provider)}`, { key });
  }

  /** Forgets a provider's key that was kept. */
  async forgetKey(provider: string): Promise<void> {
    await this.send('DELETE', `/v1/keys/${encodeURIComponent(provider)}`);
  }

  /** Asks a model of a provider for a word, with the key that it has. */
  async tryKey(provider: string): Promise<KeyTried> {
    return this.send('POST', `/v1/keys/${encodeURIComponent(provider)}/try`);
  }

  /** Lists the kinds that a failure may be called by instead of its own: none where the gateway learns nothing. */
  async kinds(): Promise<KindListed[]> {
    return (await this.send<{ kinds: KindListed[] }>('GET', '/v1/kinds')).kinds;
  }

  /** Calls failures like a run's error by another kind, from the next one on. */
  async learn(id: string, correction: Correction): Promise<Lesson> {
    return this.send('POST', `${runPath(id)}/learn`, correction);
  }

  /**
   * Asks what to do about a model call that you made yourself, and that failed: once, and for `timeout`
   * milliseconds at the most. Whatever it throws, go on as without Mulligan.
   */
  async decide(failed: Failed, timeout = ADVICE_MS): Promise<Advice> {
    return this.once('POST', '/v1/decide', failed, {}, AbortSignal.timeout(timeout));
  }

  /** Tells how a call went on that was asked about: its model cools down no more where there is an answer. */
  async outcome(outcome: Outcome, timeout = ADVICE_MS): Promise<void> {
    await this.once('POST', '/v1/outcome', outcome, {}, AbortSignal.timeout(timeout));
  }

  /** Lets this browser in by the one-time code of a link that `mulligan serve` or `mulligan login` printed. */
  async login(code: string): Promise<void> {
    await this.send('POST', '/v1/login', { code });
  }

  /** Ends this browser's session. */
  async logout(): Promise<void> {
    await this.send('POST', '/v1/logout');
  }

  /**
   * As `follow`, and answers meanwhile the calls of the tools that the run awaits, side by side. A result that the gateway does not
   * take ends it with what is thrown.
   */
  async *followWithTools(id: string, tools: Tool[], options: Follow = {}): AsyncGenerator<Item, void, undefined> {
    const begun = new Set<string>();
    const calls: Promise<void>[] = [];
    const broken = new AbortController();
    let problem: unknown;
    const answer = (awaited: AwaitedCall[] = []): void => {
      for (const call of awaited) {
        const tool = tools.find((t) => t.name === call.name);
        const asking = `${call.try ?? 0} ${call.key}`;
        if (tool?.run && !begun.has(asking)) {
          begun.add(asking);
          calls.push(this.answerCall(id, tool, call).catch((error: unknown) => {
            problem = error;
            broken.abort();
          }));
        }
      }
    };
    answer((await this.run(id)).situation.awaited);
    const signal = options.signal ? AbortSignal.any([options.signal, broken.signal]) : broken.signal;
    for await (const item of this.follow(id, { ...options, signal })) {
      if ('situation' in item) {
        answer(item.situation.awaited);
      }
      yield item;
    }
    if (!options.signal?.aborted) {
      await Promise.all(calls);
    }
    if (problem !== undefined) {
      throw problem;
    }
  }

  private async answerCall(id: string, tool: Tool, call: AwaitedCall): Promise<void> {
    let result: CallResult;
    try {
      result = { callId: call.id, text: (await tool.run?.(call.args, call)) ?? '' };
    } catch (error) {
      result = { callId: call.id, text: String(error), isError: true };
    }
    await this.give(id, result, [400, 413, 422]);
  }

  /** Gives a result. For a status of `unfit` it is too long, or no text: the model is told, and the run does not wait. */
  private async give(id: string, result: CallResult, unfit: number[]): Promise<void> {
    try {
      await this.returnToolResults(id, [result]);
    } catch (error) {
      const status = error instanceof Problem ? error.status : 0;
      if (unfit.includes(status)) {
        await this.give(id, { callId: result.callId, text: `its result cannot be given: ${(error as Problem).message}`, isError: true }, []);
      } else if (![404, 409, 410].includes(status)) { // else somebody else has answered, or the run goes on without it
        throw error;
      }
    }
  }

  /**
   * Yields what happens to a run: every event exactly once and in order, whatever becomes of
   * the connection, with live text between them. It ends with the run, and throws a Problem
   * that trying again cannot help.
   */
  async *follow(id: string, options: Follow = {}): AsyncGenerator<Item, void, undefined> {
    let after = options.after ?? 0;
    let failures = 0;
    let ended = false;
    while (!ended && !options.signal?.aborted) {
      let lost = true;
      try {
        for await (const item of this.connect(id, after, options)) {
          if (item === 'end') {
            ended = true;
            break;
          }
          failures = 0;
          if (item === 'resync') {
            lost = false; // nothing is wrong with the connection: this page read too slowly
            break;
          }
          if (!('event' in item)) {
            yield item;
          } else if (item.event.seq === after + 1) {
            after++;
            yield item;
          } else if (item.event.seq > after) {
            break; // a gap: ask for what is missing
          }
        }
      } catch (error) {
        if (error instanceof Problem && error.status < 500 && error.status !== 429 && error.status !== 408) {
          throw error;
        }
      }
      if (!ended && !options.signal?.aborted) {
        if (lost) {
          options.onConnection?.(false);
        }
        await pauseFor(RECONNECT_MS[Math.min(failures++, RECONNECT_MS.length - 1)] ?? 0, options.signal);
      }
    }
  }

  /** One connection of a follower. */
  private async *connect(id: string, after: number, options: Follow): AsyncGenerator<Item | 'end' | 'resync'> {
    const abort = new AbortController();
    const stop = (): void => abort.abort();
    options.signal?.addEventListener('abort', stop);
    // A browser whose network came or went may hold a connection that will never break.
    const page: Partial<EventTarget> = globalThis;
    page.addEventListener?.('online', stop);
    page.addEventListener?.('offline', stop);
    let watchdog = setTimeout(stop, SILENCE_MS);
    const alive = (): void => {
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, SILENCE_MS);
    };
    try {
      const response = await this.fetch(`${this.url}${runPath(id)}/events`, {
        headers: { ...this.headers(), Accept: 'text/event-stream', 'Last-Event-ID': String(after) },
        signal: abort.signal, cache: 'no-store',
      });
      if (!response.ok || !response.body) {
        throw await Problem.of(response);
      }
      options.onConnection?.(true);
      for await (const e of serverEvents(response.body, alive)) {
        const item = itemOf(e.event, e.data);
        if (item) {
          yield item;
        }
      }
    } finally {
      clearTimeout(watchdog);
      options.signal?.removeEventListener('abort', stop);
      page.removeEventListener?.('online', stop);
      page.removeEventListener?.('offline', stop);
      abort.abort();
    }
  }

  /** Sets the clock by a document that tells the gateway's time. */
  private async timed(ask: () => Promise<Run>): Promise<Run> {
    const asked = Date.now();
    const run = await ask();
    const server = Date.parse(run.serverNow);
    if (Number.isFinite(server)) {
      this.offset = server - (asked + Date.now()) / 2;
    }
    return run;
  }

  /** Makes a request, again while the gateway is busy. */
  private send<T>(method: string, path: string, body?: unknown): Promise<T> {
    return patiently(isBusy, () => this.once<T>(method, path, body));
  }

  private async once<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<T> {
    const response = await this.fetch(this.url + path, {
      method, cache: 'no-store', ...(signal && { signal }),
      headers: { ...this.headers(), Accept: 'application/json', ...(body !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) {
      throw await Problem.of(response);
    }
    return response.status === 204 ? (undefined as T) : ((await response.json()) as T);
  }

  /** Without a token a browser's cookie vouches for a request, and a header that no other site's page may set. */
  private headers(): Record<string, string> {
    return this.token ? { Authorization: `Bearer ${this.token}` } : { 'X-Mulligan-CSRF': '1' };
  }
}
