/**
 * Mulligan's recovery as a plugin of OpenClaw, in the words of its pull request 20384: the hook `run_error` is
 * answered with an action. A host that has no such hook retries and falls back by itself. It lets a plugin hear of
 * each attempt that failed, hold the next one back, forbid it, and choose its model wherever it chooses one: at the
 * next of its fallback models, and at the session's next turn.
 */
import { acts, Advisor, type Advice, passed } from './advisor.js';
import type { Evidence } from './evidence.js';

/** What `run_error` is told: a run that failed. */
export interface RunError {
  error?: unknown;
  runId?: string;
  sessionId?: string;
  sessionKey?: string;
  agentId?: string;
  provider?: string;
  model?: string;
  /** How often the run was recovered before. */
  attempt?: number;
  timedOut?: boolean;
  aborted?: boolean;
  promptError?: unknown;
  /** What the model said last: a text, or a message. */
  assistant?: unknown;
  lastAssistant?: unknown;
}

/** What it answers; nothing is no opinion. */
export interface RunErrorResult {
  action: 'retry' | 'switch' | 'fail';
  delayMs?: number;
  newModel?: string;
  reason?: string;
}

interface Context {
  runId?: string;
  agentId?: string;
  sessionKey?: string;
  sessionId?: string;
  modelProviderId?: string;
  modelId?: string;
}

/** What is used of a host's API. */
export interface Host {
  pluginConfig?: unknown;
  logger?: { warn?(text: string): void };
  on(hook: string, handler: (event: never, context: Context) => unknown, options?: object): void;
}

const MOST = 1000; // sessions whose next model is remembered

/** The plugin, as OpenClaw loads it. */
export default {
  id: 'mulligan-recovery',
  name: 'Mulligan recovery',
  description: 'Asks Mulligan what to do about a run that failed',
  register(host: Host): void {
    const { url, timeout, alternatives } = configOf(host.pluginConfig);
    const advisor = new Advisor({ url, ...(timeout && { timeout }), warn: (text) => (host.logger?.warn ?? console.warn)(text) });
    register(host, advisor, alternatives);
  },
};

/** A turn with an attempt that failed: what is done about it, and since when. */
interface Turn {
  call: string;
  failures: number;
  /** Settles with what is done about the last failure. */
  advice: Promise<Advice | undefined>;
  /** When it did, in milliseconds since 1970. */
  since: number;
  forbidden?: boolean;
}

/** Registers the hooks. alternatives are the models that may be switched to, provider/model. */
export function register(host: Host, advisor: Advisor, alternatives: readonly string[] = []): void {
  let obeys = false;
  const next = new Map<string, { model: string; call: string }>(); // by session
  const turns = new Map<string, Turn>(); // by run

  async function asked(event: RunError, context: Context): Promise<Advice | undefined> {
    const run = event.runId || context.runId || '';
    const turn = turns.get(run) ?? { call: callOf(event, context), failures: 0, advice: Promise.resolve(undefined), since: 0 };
    turn.advice = ask(advisor, alternatives, { attempt: turn.failures++, ...event }, context).then((advice) => {
      const session = context.sessionKey ?? context.sessionId;
      if (!obeys && session !== undefined && advice && acts(advice) && advice.decision.newModel) {
        remember(next, session, { model: advice.decision.newModel, call: turn.call });
      }
      turn.since = Date.now();
      return advice;
    });
    if (run) {
      remember(turns, run, turn);
    }
    return await turn.advice;
  }

  host.on('run_error', async (event: RunError, context) => {
    obeys = true;
    const advice = await asked(event, context);
    return advice && resultOf(advice);
  });

  host.on('agent_end', async (event: { runId?: string; success: boolean; error?: string; messages?: unknown[] }, context) => {
    const run = event.runId ?? context.runId ?? '';
    const last = brokeOff(event.messages?.at(-1));
    if (!event.success || last) {
      if (!obeys && !turns.get(run)?.forbidden) {
        await asked({ error: last ?? event.error, runId: run }, context);
      }
      return;
    }
    const switched = next.get(context.sessionKey ?? context.sessionId ?? '');
    const calls = new Set([turns.get(run)?.call, switched?.call].filter((call) => call));
    turns.delete(run);
    if (switched) {
      switched.call = '';
    }
    const model = modelOf({}, context);
    await Promise.all([...calls].map((call) => advisor.outcome({ call: call!, ok: true, ...(model && { model }) })));
  });

  host.on('before_model_resolve', async (_event: unknown, context) => {
    await turns.get(context.runId ?? '')?.advice;
    const switched = next.get(context.sessionKey ?? context.sessionId ?? '');
    if (!switched) {
      return undefined;
    }
    const [providerOverride = '', ...model] = switched.model.split('/');
    return { providerOverride, modelOverride: model.join('/') };
  });

  host.on('before_agent_run', async (_event: unknown, context) => {
    const turn = turns.get(context.runId ?? '');
    const advice = await turn?.advice;
    if (!turn || !advice || obeys) {
      return undefined;
    }
    const { action, delayMs = 0, reason } = advice.decision;
    if (action === 'fail') {
      turn.forbidden = true;
      const message = [advice.failure?.title, reason].filter(Boolean).join(': ') || 'Mulligan gives it up';
      return { outcome: 'block', reason: 'Mulligan gives it up', message };
    }
    if (acts(advice)) {
      await passed(Math.min(turn.since + delayMs - Date.now(), LONGEST));
    }
    return undefined;
  }, { timeoutMs: LONGEST + 10_000 });
}

const LONGEST = 590_000; // a wait in milliseconds; OpenClaw lets a hook take ten minutes at the most

/** Advice in the words of the pull request. No opinion is no answer; what is not to be acted on is "fail". */
export function resultOf(advice: Advice): RunErrorResult | undefined {
  const { action, delayMs, newModel, reason, blockedBy } = advice.decision;
  if (!action) {
    return undefined;
  }
  const why = reason ?? blockedBy;
  if (!acts(advice)) {
    return { action: 'fail', ...(why && { reason: why }) };
  }
  return {
    action: action === 'switch_model' ? 'switch' : 'retry',
    ...(delayMs && { delayMs }), ...(newModel && { newModel }), ...(why && { reason: why }),
  };
}

async function ask(advisor: Advisor, alternatives: readonly string[], event: RunError, context: Context): Promise<Advice | undefined> {
  const model = modelOf(event, context);
  if (!model || event.aborted && !event.timedOut) { // what a person stopped is no failure
    return undefined;
  }
  const question = {
    call: callOf(event, context),
    attempt: event.attempt ?? 0,
    model,
    alternatives: alternatives.filter((one) => one !== model),
    failure: failureOf(event),
    ...facts({
      sessionKey: event.sessionKey ?? context.sessionKey ?? event.sessionId ?? context.sessionId,
      agentId: event.agentId ?? context.agentId,
      promptError: textOf(event.promptError, 16 << 10),
      lastAssistant: textOf(event.lastAssistant ?? event.assistant, 64 << 10),
      timedOut: event.timedOut || undefined,
      aborted: event.aborted || undefined,
    }),
  };
  return await advisor.decide(question);
}

/** The last message of a run whose model call failed: OpenClaw's agent_end calls that a success. */
function brokeOff(message: unknown): Broken | undefined {
  return typeof message === 'object' && message !== null && (message as Broken).stopReason === 'error' ? message : undefined;
}

interface Broken {
  stopReason?: string;
  errorMessage?: string;
  errorCode?: string;
  errorBody?: string;
}

/** OpenClaw says what failed in one line, which begins with the status where there was one. */
function failureOf({ error }: RunError): Evidence {
  const { errorMessage, errorCode, errorBody } = (typeof error === 'object' ? error ?? {} : {}) as Broken;
  const message = textOf(errorMessage ?? error, 8 << 10) ?? '';
  const [status, code, body] = [/^(?:HTTP )?([45]\d\d)\b/.exec(message)?.[1], textOf(errorCode, 256), textOf(errorBody, 64 << 10)];
  return { message, ...(status && { status: Number(status) }), ...(code && { code }), ...(body && { body }) };
}

function callOf(event: RunError, context: Context): string {
  return `openclaw/${event.runId || context.runId || event.sessionId || context.sessionId || crypto.randomUUID()}`.slice(0, 256);
}

function modelOf(event: RunError, context: Context): string {
  const model = event.model ?? context.modelId ?? '';
  const provider = event.provider ?? context.modelProviderId;
  return provider ? `${provider}/${model}` : model.includes('/') ? model : '';
}

/** Of a text, an error, or a message with parts. */
function textOf(value: unknown, most: number, depth = 0): string | undefined {
  if (typeof value === 'string') {
    return value.slice(0, most) || undefined;
  }
  if (typeof value !== 'object' || value === null || depth > 3) {
    return undefined;
  }
  const { message, content, text } = value as { message?: unknown; content?: unknown; text?: unknown };
  const parts = Array.isArray(content) ? content.slice(0, 1000).map((part) => textOf(part, most, depth + 1) ?? '').join('') : content;
  return textOf(message ?? text ?? parts, most, depth + 1);
}

function facts(all: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined).map(([name, value]) => [name, CUT.has(name) ? String(value).slice(0, 128) : value]));
}

const CUT = new Set(['sessionKey', 'agentId']);

function remember<T>(all: Map<string, T>, key: string, value: T): void {
  all.delete(key);
  all.set(key, value);
  for (const [oldest] of all) {
    if (all.size <= MOST) {
      break;
    }
    all.delete(oldest);
  }
}

function configOf(config: unknown): { url: string | undefined; timeout: number | undefined; alternatives: string[] } {
  const { url, timeout, alternatives } = (config ?? {}) as { url?: unknown; timeout?: unknown; alternatives?: unknown };
  return {
    url: typeof url === 'string' && url ? url : undefined,
    timeout: typeof timeout === 'number' && timeout > 0 ? timeout : undefined,
    alternatives: Array.isArray(alternatives) ? alternatives.filter((one): one is string => typeof one === 'string') : [],
  };
}
