import type { Bodies, Button, Delta, Failure, Item, Message, Notice, RunEvent, ToolResult, Usage } from './event.js';
import { StreamedText } from './text.js';
import type { Attempt, CutShort, Entry, Recovering, Recovery, ToolRun, TriedFailure, View } from './view.js';

/** A first retry that is shorter than this shows nothing, in milliseconds. */
const QUIET_MS = 1500;

/** How many other models are offered as buttons to who cuts a call short. */
const MAX_SWITCHES = 3;

/** The cause of the failure of a call that a person did not wait for. */
const CUT_SHORT = 'cut_short';

/** The cause of the failure of a run whose model cools down, before its first call. */
const COOLING = 'cooling';

/** Makes a view out of what a follower got, from the first event on. */
export function fold(items: Iterable<Item>): View {
  const run = new Fold();
  for (const item of items) {
    run.apply(item);
  }
  return run.view;
}

/**
 * Keeps the view of one run up to date, by the rules of the runner's own fold. The view is one
 * object that changes in place.
 */
export class Fold {
  readonly view: View = {
    id: '', session: '', seq: 0, startedAt: '', updatedAt: '', status: 'running', chosenModel: '', model: '', models: [],
    autoRecover: false, prompt: '', answer: { text: '', model: '', partial: false, truncated: false },
    usage: { tokens: 0, wastedTokens: 0, microdollars: 0 }, entries: [], events: [],
  };

  private policy: Bodies['started']['policy'] = { autoRecover: false, maxRetries: 0, timeouts: {} };
  private messages: Message[] = [];
  private attempt: LiveAttempt | undefined;
  private answers = 0;
  /** The last answer was cut at the output limit. */
  private truncated = false;
  /** What is shown of it, while the text of the call that asks for it once more is. */
  private cut: Entry | undefined;
  private call = noCall();
  private open: OpenFailure | undefined;
  private pending: ToolRun[] = [];
  private suggestion: Bodies['suggested']['suggestion'] | undefined;
  private suggestionOpen = false;
  private suggestionOver = false;
  private cancelled = false;
  private ended = false;

  /** Takes the next thing that a follower got. An event that is known already changes nothing. */
  apply(item: Item): void {
    if ('event' in item) {
      this.applyEvent(item.event);
    } else if ('delta' in item) {
      this.applyDelta(item.delta);
    } else {
      this.applyNotice(item.notice);
    }
    this.publish();
  }

  private applyEvent(e: RunEvent): void {
    const v = this.view;
    if (e.seq <= v.seq) {
      return;
    }
    if (e.seq !== v.seq + 1) {
      throw new Error(`run ${e.run}: event ${e.seq} cannot follow event ${v.seq}`);
    }
    v.seq = e.seq;
    v.updatedAt = e.time;
    v.events.push(e);
    delete v.paused;
    if (!this.ended) {
      this.happened(e);
    }
  }

  private applyDelta(d: Delta): void {
    const a = this.attempt;
    if (!a || a.id !== d.attempt || !a.inAir) {
      return;
    }
    (d.thinking ? a.thinking : a.text).delta(d.offset, d.text);
    delete this.view.paused;
  }

  private applyNotice(n: Notice): void {
    this.view.paused = n.text;
  }

  private happened(e: RunEvent): void {
    switch (e.type) {
      case 'started': return this.started(e.run, e.time, e.data);
      case 'claimed': return this.claimed();
      case 'began': return this.began(e.time, e.data);
      case 'checkpointed': return this.checkpointed(e.data);
      case 'answered': return this.answered(e.data);
      case 'failed': return this.failed(e.seq, e.time, e.data);
      case 'voted': return this.voted(e.data);
      case 'decided': return this.decided(e.data);
      case 'waiting': return this.waiting(e.time, e.data);
      case 'due': return this.due(e.data);
      case 'tool_began': return this.toolBegan(e.time, e.data);
      case 'tool_returned': return this.toolReturned(e.time, e.data);
      case 'compacting': this.view.compacting = e.data.model; return;
      case 'compacted': delete this.view.compacting; this.spend(e.data.model ?? '', e.data.usage); return;
      case 'noted': return this.noted(e.data);
      case 'suggested': return this.suggested(e.data);
      case 'accepted': return this.accepted(e.seq, e.time, e.data);
      case 'cancel_requested': this.cancelled = true; return;
      case 'paused': return this.paused(e.text, e.data);
      case 'ended': return this.end(e.data);
    }
  }

  private started(run: string, time: string, b: Bodies['started']): void {
    const v = this.view;
    v.id = run;
    v.session = b.session ?? '';
    v.startedAt = time;
    v.chosenModel = v.model = b.model;
    this.policy = b.policy;
    this.messages.push(...b.input);
    v.entries.push(...b.input.flatMap(givenEntry));
    v.prompt = textOf([...b.input].reverse().find((m) => m.role === 'user'));
  }

  private claimed(): void {
    if (this.attempt?.inAir) {
      this.attempt.orphan = true;
    }
    delete this.view.compacting;
    if (this.view.wait?.for === 'store') {
      delete this.view.wait;
      this.view.status = 'running';
    }
  }

  private began(time: string, b: Bodies['began']): void {
    const v = this.view;
    set(v, 'recovering', this.recoveryBy(b));
    if (b.retry) {
      this.call.retries++;
    }
    if (this.attempt) {
      this.withdraw(this.attempt.id);
    }
    this.attempt = {
      id: b.attempt, model: b.model, try: b.try, retry: this.call.retries, beganAt: time, inAir: true, orphan: false, again: b.again === true,
      text: new StreamedText(), thinking: new StreamedText(),
    };
    v.model = b.model;
    v.status = 'running';
    this.open = undefined;
    delete v.wait;
    this.suggestionOpen = this.suggestionOver = false;
  }

  /** What is said of an attempt that follows a failure, until its first token. */
  private recoveryBy(b: Bodies['began']): Recovering | undefined {
    const tried = this.call.tried.at(-1);
    const failure = this.open?.failure ?? tried?.failure;
    if (!failure || this.open?.callId) {
      return undefined;
    }
    const quiet = this.call.retries === 0 && this.call.quiet && b.model === this.view.model;
    return { failure, quiet, ...(b.model !== this.view.model && { switchTo: b.model }) };
  }

  /** Takes what the last attempt wrote, and that it recovered, out of the conversation. */
  private withdraw(attempt: number): void {
    const key = `a${attempt}`;
    this.view.entries = this.view.entries.filter((entry) => {
      return !(entry.type === 'text' && entry.key === key) && !(entry.type === 'recovered' && entry.recovery.attempt === attempt);
    });
  }

  private checkpointed(b: Bodies['checkpointed']): void {
    if (this.attempt?.id === b.attempt && this.attempt.inAir) {
      this.attempt.text.checkpoint(b.offset, b.text);
    }
  }

  private answered(b: Bodies['answered']): void {
    const a = this.attempt;
    if (!a || a.id !== b.attempt || !a.inAir) {
      return;
    }
    const v = this.view;
    this.spend(a.model, b.usage);
    if (a.again) {
      this.hideCut();
      this.cut = undefined;
      this.messages.pop();
    }
    this.messages.push(b.message);
    this.answers++;
    this.withdraw(a.id);
    this.tellRecovery(a);
    const thinking = b.message.parts.map((p) => p.thinking?.text ?? '').join('');
    if (textOf(b.message) || thinking) {
      v.entries.push({
        type: 'text', key: `a${a.id}`, text: textOf(b.message), model: b.message.model ?? a.model, partial: false,
        ...(b.stop === 'length' && { truncated: true }), ...(thinking && { thinking }),
      });
    }
    this.pending = b.message.parts.flatMap((p) => (p.call ? [{ id: p.call.id, name: p.call.name, args: p.call.args, state: 'asked' as const }] : []));
    v.entries.push(...this.pending.map((call): Entry => ({ type: 'tool', call })));
    this.truncated = b.stop === 'length';
    this.attempt = undefined;
    this.call = noCall();
    delete v.recovering;
  }

  /** Adds the grey line about what it took to get the answer of this attempt. */
  private tellRecovery(a: LiveAttempt): void {
    const { passedOver, retries, tried } = this.call;
    const from = passedOver?.model ?? tried[0]?.model;
    if (from === undefined || (a.model === from && retries === 0)) {
      return;
    }
    const recovery: Recovery = { attempt: a.id, retries, from, tried, ...(passedOver && { passedOver }) };
    if (a.model !== from) {
      recovery.switchedTo = a.model;
    }
    this.view.entries.push({ type: 'recovered', recovery });
  }

  private failed(seq: number, time: string, b: Bodies['failed']): void {
    const v = this.view;
    const a = this.attempt;
    if (this.answers > 0 && this.pending.length === 0 && (!a || a.again)) {
      this.failedAgain(b);
      return;
    }
    this.open = { seq, at: time, failure: b.failure, cause: b.cause, callId: b.callId };
    if (a && a.id === b.attempt && a.inAir) {
      this.spend(a.model, b.usage);
      v.usage.wastedTokens += total(b.usage);
      a.inAir = false;
      v.entries = v.entries.filter((entry) => entry.type !== 'recovered' || entry.recovery.attempt !== a.id);
      this.call.tried.push({
        attempt: a.try, model: a.model, code: b.failure.code, at: a.beganAt, ms: since(a.beganAt, time), failure: b.failure, votes: [],
      });
      this.open.tried = this.call.tried.at(-1);
    }
    if (b.cause === COOLING) {
      this.call.passedOver = b.failure;
    }
    v.status = 'running';
    delete v.wait;
    delete v.recovering;
  }

  /** An answer that was cut stays what it is where it cannot be had once more. */
  private failedAgain(b: Bodies['failed']): void {
    const a = this.attempt;
    if (a && a.id === b.attempt && a.inAir) {
      this.spend(a.model, b.usage);
      this.view.usage.wastedTokens += total(b.usage);
    }
    this.leaveAgain();
    this.view.status = 'running';
  }

  private leaveAgain(): void {
    if (this.attempt) {
      this.withdraw(this.attempt.id);
    }
    if (this.cut) {
      this.view.entries.push(this.cut);
    }
    this.attempt = this.cut = undefined;
    this.call = noCall();
  }

  /** Takes the answer that was cut out of the conversation, for the text of the other one is there. */
  private hideCut(): void {
    const v = this.view;
    this.cut ??= v.entries.findLast((entry) => entry.type === 'text');
    v.entries = v.entries.filter((entry) => entry !== this.cut);
  }

  private voted(b: Bodies['voted']): void {
    if (this.open?.seq === b.failure) {
      this.open.tried?.votes.push(b.vote);
    }
  }

  private decided(b: Bodies['decided']): void {
    if (this.open?.seq !== b.failure) {
      return;
    }
    this.open.decided = true;
    if (this.open.tried) {
      this.open.tried.decision = b.decision;
    }
    this.call.quiet = (b.decision.delayMs ?? 0) < QUIET_MS && b.decision.action === 'retry';
  }

  private waiting(time: string, b: Bodies['waiting']): void {
    const v = this.view;
    v.wait = b;
    v.status = 'waiting';
    if (!this.open) {
      return;
    }
    const quiet = b.for === 'time' && b.retry === 1 && b.model === v.model && !!b.until && since(time, b.until) < QUIET_MS;
    v.recovering = { failure: this.open.failure, quiet, ...(b.model !== v.model && { switchTo: b.model }) };
  }

  private due(b: Bodies['due']): void {
    const mine = this.open?.seq === b.failure;
    if ((b.timer === 'wait' || b.timer === 'network') && mine) {
      delete this.view.wait;
      this.view.status = 'running';
    } else if (b.timer === 'expiry' && this.suggestionOpen && mine) {
      this.suggestionOver = true;
    }
  }

  private toolBegan(time: string, b: Bodies['tool_began']): void {
    const tool = this.tool(b.callId);
    if (tool) {
      tool.state = 'running';
      tool.beganAt = time;
      delete tool.says;
    }
  }

  private toolReturned(time: string, b: Bodies['tool_returned']): void {
    const tool = this.tool(b.callId);
    if (!tool) {
      return;
    }
    tool.state = b.outcome;
    tool.result = b.result.text;
    delete tool.says;
    if (tool.beganAt) {
      tool.elapsedMs = Math.max(b.elapsedMs ?? 0, since(tool.beganAt, time));
    }
    const result: ToolResult = b.result;
    this.messages.push({ role: 'tool', parts: [{ result }] });
  }

  private tool(callId: string): ToolRun | undefined {
    return this.pending.find((t) => t.id === callId && (t.state === 'asked' || t.state === 'running'));
  }

  private noted(b: Bodies['noted']): void {
    const tool = this.tool(b.callId ?? '');
    if (tool && b.topic === 'tool_says' && b.detail) {
      tool.says = b.detail;
    }
  }

  private suggested(b: Bodies['suggested']): void {
    const s = b.suggestion;
    this.suggestion = { ...s, actions: s.actions ?? [], tried: s.tried ?? [] }; // an empty list may come as null
    this.suggestionOpen = this.open !== undefined && this.suggestion.actions.length > 0;
    this.view.status = 'failed';
    delete this.view.wait;
    delete this.view.recovering;
  }

  private accepted(seq: number, time: string, b: Bodies['accepted']): void {
    const v = this.view;
    const button = this.answerable(b.suggestion, time)?.find((x) => x.id === b.action) ??
      this.answerable(b.suggestion, time)?.find((x) => x.kind === b.action);
    if (!button || button.effect !== 'runner' || !this.open) {
      return;
    }
    this.suggestionOpen = this.suggestionOver = false;
    delete v.wait;
    v.status = 'running';
    this.call.quiet = false;
    const label = b.model && button.model ? button.label.replace(button.model, b.model) : button.label;
    if (this.open.tried) {
      this.open.tried.chosen = { ...button, label };
    }
    const to = b.model ?? button.model;
    if (button.kind === 'cancel_wait' || button.kind === 'stop') {
      this.cancelled = true;
    } else if (button.plugin) {
      this.open.decided = false; // its plugin is asked what follows
    } else {
      this.answerFor(button, to);
    }
    v.entries.push({ type: 'chosen', label, seq, ...(to && { model: to }), ...(this.suggestion?.resetsAt && { at: this.suggestion.resetsAt }) });
  }

  /** What follows from a button that lets the run go on. */
  private answerFor(button: Button, to: string | undefined): void {
    const v = this.view;
    const open = this.open;
    if (!open) {
      return;
    }
    open.accepted = true;
    if (button.kind === 'rerun_tool') {
      this.rerun(open.callId);
    }
    if (!open.callId) {
      v.recovering = { failure: open.failure, quiet: false, ...(to && to !== v.model && { switchTo: to }) };
    }
  }

  /** Takes a tool's result back. */
  private rerun(callId: string | undefined): void {
    for (const tool of this.pending) {
      if (tool.id === callId && tool.result !== undefined) {
        tool.state = 'asked';
        delete tool.result;
        delete tool.elapsedMs;
        this.messages = this.messages.filter((m) => m.parts[0]?.result?.callId !== callId || m.role !== 'tool');
      }
    }
  }

  private answerable(id: string, time: string): Button[] | undefined {
    if (this.cancelled || !this.open) {
      return undefined;
    }
    const a = this.attempt;
    if (!this.open.decided) { // the failure of a call that is cut short comes first, and the answer to it next
      return a && this.open.cause === CUT_SHORT && this.callId(a) === id ? this.callActions(a) : undefined;
    }
    if (this.view.wait && this.view.wait.id === id) {
      return this.view.wait.actions;
    }
    const s = this.suggestion;
    return this.isSuggesting() && s?.id === id && Date.parse(time) < Date.parse(s.expiresAt) ? s.actions : undefined;
  }

  /** How the call in the air may be cut short. */
  private cutShort(): CutShort | undefined {
    const a = this.attempt;
    if (!a?.inAir || a.orphan || a.again || this.cancelled || this.ended || this.isSuggesting()) {
      return undefined;
    }
    return { id: this.callId(a), actions: this.callActions(a) };
  }

  private callId(a: LiveAttempt): string {
    return `${this.view.id}-a${a.id}`;
  }

  private callActions(a: LiveAttempt): Button[] {
    const others = (this.policy.models ?? []).filter((model) => model !== a.model).slice(0, MAX_SWITCHES);
    return [
      { id: 'a1', kind: 'retry_now', label: 'Retry now', effect: 'runner', primary: true },
      ...others.map((model, i): Button => ({ id: `a${i + 2}`, kind: 'switch_model', label: `Switch to ${model}`, effect: 'runner', model })),
    ];
  }

  private isSuggesting(): boolean {
    return this.suggestionOpen && !this.suggestionOver && !this.cancelled && !this.ended;
  }

  private paused(text: string | undefined, b: Bodies['paused']): void {
    if ((b.forMs ?? 0) <= 0) {
      this.view.status = 'waiting';
      this.view.wait = { id: '', for: 'store', model: '' };
      this.view.paused = text ?? '';
    }
  }

  private end(b: Bodies['ended']): void {
    const v = this.view;
    this.ended = true;
    v.status = b.status;
    v.stopReason = b.stopReason;
    if (this.suggestionOver) {
      v.closed = 'expired';
    } else if (this.suggestionOpen) {
      v.closed = 'superseded';
    }
    this.suggestionOpen = false;
    delete v.wait;
    delete v.recovering;
    delete v.compacting;
    if (this.attempt?.again) {
      this.leaveAgain();
    }
    if (this.attempt) {
      this.attempt.inAir = false;
    }
    for (const tool of this.pending.filter((t) => t.state === 'asked' || t.state === 'running')) {
      tool.state = 'stopped';
    }
  }

  private spend(model: string, used: Usage | undefined): void {
    const v = this.view;
    v.usage.tokens += total(used);
    const price = this.policy.prices?.[model];
    if (price && used) {
      v.usage.microdollars += Math.round(
        ((used.inputTokens ?? 0) * price.input + (used.outputTokens ?? 0) * price.output +
          (used.cacheReadTokens ?? 0) * (price.cacheRead || price.input) +
          (used.cacheWriteTokens ?? 0) * (price.cacheWrite || price.input)) / 1e6,
      );
    }
  }

  /** Brings what is derived up to date. */
  private publish(): void {
    const v = this.view;
    const a = this.attempt;
    v.models = this.policy.models ?? [];
    v.autoRecover = this.policy.autoRecover;
    set(v, 'waitingFor', v.wait?.for);
    set(v, 'suggestion', this.isSuggesting() ? this.suggestion : undefined);
    set(v, 'error', this.open?.failure);
    set(v, 'attempt', a?.inAir ? this.goingOn(a) : undefined);
    this.publishText();
  }

  private goingOn(a: LiveAttempt): Attempt {
    const limits = this.policy.modelTimeouts?.[a.model] ?? this.policy.timeouts;
    const cutShort = this.cutShort();
    return {
      id: a.id, model: a.model, retry: a.retry, of: a.again ? 0 : this.policy.maxRetries, beganAt: a.beganAt, thinking: a.thinking.text,
      firstEventMs: limits['firstEventMs'] ?? 0, idleMs: limits['idleMs'] ?? 0, ...(cutShort && { cutShort }),
    };
  }

  private publishText(): void {
    const v = this.view;
    const a = this.attempt;
    const last = this.messages.at(-1);
    v.answer.truncated = this.truncated && !a?.text.text;
    if (!a?.text.text) {
      v.answer.text = last?.role === 'assistant' ? textOf(last) : '';
      v.answer.model = v.answer.text ? last?.model ?? '' : '';
      v.answer.partial = false;
      return;
    }
    if (a.inAir) {
      delete v.recovering; // its first token is here
    }
    v.answer = { ...v.answer, text: a.text.text, model: a.model, partial: true };
    const key = `a${a.id}`;
    const shown = v.entries.find((entry) => entry.type === 'text' && entry.key === key);
    if (shown?.type === 'text') {
      shown.text = a.text.text;
    } else {
      if (a.again) {
        this.hideCut();
      }
      this.tellRecovery(a);
      v.entries.push({ type: 'text', key, text: a.text.text, model: a.model, partial: true });
    }
  }
}

/** What a run was given is shown by who said it: a run may begin with a whole conversation. */
function givenEntry(message: Message, index: number): Entry[] {
  const text = textOf(message);
  switch (message.role) {
    case 'user': return [{ type: 'user', message }];
    case 'assistant': return text ? [{ type: 'text', key: `g${index}`, text, model: message.model ?? '', partial: false }] : [];
  }
  return [];
}

interface LiveAttempt {
  id: number;
  model: string;
  try: number;
  retry: number;
  beganAt: string;
  inAir: boolean;
  /** It was in the air when its owner was lost. */
  orphan: boolean;
  /** It asks once more for an answer that was cut. */
  again: boolean;
  text: StreamedText;
  thinking: StreamedText;
}

interface OpenFailure {
  seq: number;
  at: string;
  failure: Failure;
  callId: string | undefined;
  cause: string | undefined;
  tried?: TriedFailure | undefined;
  decided?: boolean;
  accepted?: boolean;
}

function noCall(): { retries: number; quiet: boolean; tried: TriedFailure[]; passedOver?: Failure } {
  return { retries: 0, quiet: false, tried: [] };
}

function set<K extends keyof View>(view: View, key: K, value: View[K] | undefined): void {
  if (value === undefined) {
    delete view[key];
  } else {
    view[key] = value;
  }
}

function textOf(message: Message | undefined): string {
  return message?.parts.map((p) => p.text ?? '').join('') ?? '';
}

function total(u: Usage | undefined): number {
  return (u?.inputTokens ?? 0) + (u?.outputTokens ?? 0) + (u?.cacheReadTokens ?? 0) + (u?.cacheWriteTokens ?? 0);
}

function since(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}
