import { Conversation, keyOf, textOf } from './conversation.js';
import type { Bodies, Delta, Failure, Item, Message, RunEvent, Usage } from './event.js';
import { StreamedText } from './text.js';
import { ToolCalls } from './toolcalls.js';
import { cost, since, total } from './figures.js';
import type { Entry, Recovery, TriedFailure, View } from './view.js';

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
 * Keeps the view of one run up to date: its conversation, by the rules of the runner's own fold,
 * and what the gateway says that there is to see of it. The view is one object that changes in place.
 */
export class Fold {
  readonly view: View = {
    id: '', session: '', seq: 0, startedAt: '', updatedAt: '', status: 'running', chosenModel: '', model: '', models: [],
    autoRecover: false, prompt: '', answer: { text: '', model: '', partial: false, truncated: false },
    usage: { tokens: 0, wastedTokens: 0, microdollars: 0 }, entries: [], events: [],
  };

  private policy: Bodies['started']['policy'] = { autoRecover: false };
  private messages: Message[] = [];
  private attempt: LiveAttempt | undefined;
  private answers = 0;
  /** The last answer was cut at the output limit. */
  private truncated = false;
  private call = noCall();
  private open: OpenFailure | undefined;
  private readonly conversation = new Conversation(this.view);
  private readonly tools = new ToolCalls();
  private readonly toolFailures = new Map<number, string>(); // by the event that says so: the call
  private suggestion: Bodies['suggested']['suggestion'] | undefined;
  private ended = false;

  /** Takes the next thing that a follower got. An event that is known already changes nothing. */
  apply(item: Item): void {
    if ('event' in item) {
      this.applyEvent(item.event);
    } else if ('delta' in item) {
      this.applyDelta(item.delta);
    } else if ('situation' in item) {
      this.view.situation = item.situation;
    } else {
      this.view.notice = item.notice.text;
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
    delete v.notice;
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
    delete this.view.notice;
  }

  private happened(e: RunEvent): void {
    switch (e.type) {
      case 'started': return this.started(e.run, e.time, e.data);
      case 'began': return this.began(e.time, e.data);
      case 'answered': return this.answered(e.text ?? '', e.data);
      case 'failed': return this.failed(e.seq, e.time, e.data);
      case 'voted': return this.voted(e.data);
      case 'decided': return this.decided(e.data);
      case 'tool_began': return this.tools.began(e.time, e.data);
      case 'tool_returned': return this.toolReturned(e.seq, e.time, e.data);
      case 'compacted': return this.spend(e.data.model ?? '', e.data.usage);
      case 'noted': return this.tools.noted(e.data);
      case 'suggested': return this.suggested(e.data);
      case 'accepted': return this.accepted(e.seq, e.text ?? '', e.data);
      case 'cancel_requested': return this.said(e.data);
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
    this.conversation.given(b.input);
    v.prompt = textOf([...b.input].reverse().find((m) => m.role === 'user'));
  }

  private began(time: string, b: Bodies['began']): void {
    const v = this.view;
    const begun = this.attempt && this.attempt.id === b.continues ? this.attempt.text.text : '';
    if (this.attempt) {
      this.conversation.withdraw(this.attempt.id);
    }
    this.attempt = {
      id: b.attempt, model: b.model, try: b.try, beganAt: time, inAir: true, again: b.again === true,
      text: new StreamedText(begun), thinking: new StreamedText(),
    };
    v.model = b.model;
    this.open = undefined;
  }

  /** Takes what an attempt had said as the event that ends it says. */
  private said(b: { attempt?: number; text?: string }): void {
    if (this.attempt?.id === b.attempt && this.attempt?.inAir) {
      this.attempt.text.end(b.text ?? '');
    }
  }

  private answered(recovered: string, b: Bodies['answered']): void {
    const a = this.attempt;
    if (!a || a.id !== b.attempt || !a.inAir) {
      return;
    }
    this.spend(a.model, b.usage);
    if (a.again) {
      this.conversation.replaceCut();
      this.messages.pop();
    }
    this.messages.push(b.message);
    this.answers++;
    this.conversation.withdraw(a.id);
    this.tellRecovery(a, recovered);
    const thinking = b.message.parts.map((p) => p.thinking?.text ?? '').join('');
    if (textOf(b.message) || thinking) {
      this.conversation.add({
        type: 'text', key: keyOf(a.id), text: textOf(b.message), model: b.message.model ?? a.model, partial: false,
        ...(b.stop === 'length' && { truncated: true }), ...(thinking && { thinking }),
      });
    }
    if (this.policy.tools === 'caller') {
      this.tools.askNone(); // a caller carries its own out
    } else {
      this.conversation.add(...this.tools.ask(b.message).map((call): Entry => ({ type: 'tool', call })));
    }
    this.truncated = b.stop === 'length';
    this.attempt = undefined;
    this.call = noCall();
  }

  /** Adds the grey line about what it took to get the answer of this attempt. */
  private tellRecovery(a: LiveAttempt, text: string | undefined): void {
    if (!text) {
      return;
    }
    const { passedOver, tried } = this.call;
    const from = passedOver?.model ?? tried[0]?.model ?? a.model;
    const recovery: Recovery = { attempt: a.id, text, from, tried, ...(passedOver && { passedOver }), ...(a.model !== from && { switchedTo: a.model }) };
    this.conversation.recovered(recovery);
  }

  private failed(seq: number, time: string, b: Bodies['failed']): void {
    const v = this.view;
    const a = this.attempt;
    if (this.answers > 0 && this.tools.none && (!a || a.again)) {
      this.failedAgain(b);
      return;
    }
    this.said(b);
    this.open = { seq, failure: b.failure, callId: b.callId };
    if (a && a.id === b.attempt && a.inAir) {
      this.spend(a.model, b.usage);
      v.usage.wastedTokens += total(b.usage);
      a.inAir = false;
      this.conversation.withdrawRecovery(a.id);
      this.call.tried.push({
        attempt: a.try, model: a.model, code: b.failure.code, at: a.beganAt, ms: since(a.beganAt, time), failure: b.failure, votes: [],
      });
      this.open.tried = this.call.tried.at(-1);
    }
    if (b.cause === COOLING) {
      this.call.passedOver = b.failure;
    }
  }

  /** An answer that was cut stays what it is where it cannot be had once more. */
  private failedAgain(b: Bodies['failed']): void {
    const a = this.attempt;
    if (a && a.id === b.attempt && a.inAir) {
      this.spend(a.model, b.usage);
      this.view.usage.wastedTokens += total(b.usage);
    }
    this.leaveAgain();
  }

  private leaveAgain(): void {
    if (this.attempt) {
      this.conversation.withdraw(this.attempt.id);
    }
    this.conversation.restoreCut();
    this.attempt = undefined;
    this.call = noCall();
  }

  private voted(b: Bodies['voted']): void {
    if (this.isAbout(b.occasion)) {
      this.open?.tried?.votes.push(b.vote);
    }
  }

  private decided(b: Bodies['decided']): void {
    const [hook, seq] = b.occasion.split('/');
    if (hook === 'tool_error') {
      this.decidedAboutTool(this.toolFailures.get(Number(seq)), b.decision);
      return;
    }
    if (this.open?.tried && this.isAbout(b.occasion)) {
      this.open.tried.decision = b.decision;
    }
  }

  /** A tool that failed is run again, or the model is told something else. */
  private decidedAboutTool(callId: string | undefined, d: Bodies['decided']['decision']): void {
    if (d.action === 'retry') {
      this.takeBack(callId);
    } else if (d.action === 'tell') {
      const text = d.words ?? '';
      this.messages = this.messages.map((m) => {
        const result = m.role === 'tool' ? m.parts[0]?.result : undefined;
        return result && result.callId === callId ? { ...m, parts: [{ result: { ...result, text } }] } : m;
      });
    }
  }

  /** An occasion names the event that gave rise to it, between the hook and a press of a plugin's button. */
  private isAbout(occasion: string): boolean {
    return this.open !== undefined && occasion.split('/')[1] === String(this.open.seq);
  }

  private toolReturned(seq: number, time: string, b: Bodies['tool_returned']): void {
    if (this.tools.returned(time, b)) {
      if (b.outcome === 'error' && this.policy.toolError) {
        this.toolFailures.set(seq, b.callId);
      }
      this.messages.push({ role: 'tool', parts: [{ result: b.result }] });
    }
  }

  private suggested(b: Bodies['suggested']): void {
    const s = b.suggestion;
    this.suggestion = { ...s, actions: s.actions ?? [], tried: s.tried ?? [] }; // an empty list may come as null
  }

  /** A person's answer, in the words of its event; one that counts for nothing has none. */
  private accepted(seq: number, text: string, b: Bodies['accepted']): void {
    if (!text) {
      return;
    }
    const s = this.suggestion?.id === b.suggestion ? this.suggestion : undefined;
    const button = s?.actions.find((x) => x.id === b.action) ?? s?.actions.find((x) => x.kind === b.action);
    if (this.open?.tried) {
      this.open.tried.chosen = text;
    }
    if (button?.kind === 'rerun_tool') {
      this.takeBack(this.open?.callId);
    }
    this.conversation.add({ type: 'chosen', text, seq, ...(s?.resetsAt && { at: s.resetsAt }) });
  }

  /** Takes a tool's result back. */
  private takeBack(callId: string | undefined): void {
    if (this.tools.rerun(callId)) {
      this.messages = this.messages.filter((m) => m.parts[0]?.result?.callId !== callId || m.role !== 'tool');
    }
  }

  private end(b: Bodies['ended']): void {
    const v = this.view;
    this.ended = true;
    v.status = b.status;
    v.stopReason = b.stopReason;
    if (this.attempt?.again) {
      this.leaveAgain();
    }
    if (this.attempt) {
      this.attempt.inAir = false;
    }
    this.tools.end();
  }

  private spend(model: string, used: Usage | undefined): void {
    const v = this.view;
    v.usage.tokens += total(used);
    const price = this.policy.prices?.[model];
    if (price && used) {
      v.usage.microdollars += cost(used, price);
    }
  }

  /** Brings what is derived up to date. */
  private publish(): void {
    const v = this.view;
    const a = this.attempt;
    v.models = this.policy.models ?? [];
    v.autoRecover = this.policy.autoRecover;
    const s = v.situation;
    if (s && !this.ended) {
      v.status = s.status;
    }
    set(v, 'waitingFor', this.ended ? undefined : s?.waitingFor);
    set(v, 'suggestion', s?.suggestion && s.suggestion === this.suggestion?.id ? this.suggestion : undefined);
    set(v, 'error', this.open?.failure);
    set(v, 'attempt', a?.inAir ? { id: a.id, model: a.model, beganAt: a.beganAt, thinking: a.thinking.text } : undefined);
    this.publishText();
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
    v.answer = { ...v.answer, text: a.text.text, model: a.model, partial: true };
    if (this.conversation.update(a.id, a.text.text)) {
      return;
    }
    if (a.again) {
      this.conversation.hideCut();
    }
    this.tellRecovery(a, v.situation?.inAir === a.id ? v.situation.recovered : undefined);
    this.conversation.add({ type: 'text', key: keyOf(a.id), text: a.text.text, model: a.model, partial: true });
  }
}

interface LiveAttempt {
  id: number;
  model: string;
  try: number;
  beganAt: string;
  inAir: boolean;
  /** It asks once more for an answer that was cut. */
  again: boolean;
  text: StreamedText;
  thinking: StreamedText;
}

interface OpenFailure {
  /** Of the event that says so. */
  seq: number;
  failure: Failure;
  callId: string | undefined;
  tried?: TriedFailure | undefined;
}

function noCall(): { tried: TriedFailure[]; passedOver?: Failure } {
  return { tried: [] };
}

function set<K extends keyof View>(view: View, key: K, value: View[K] | undefined): void {
  if (value === undefined) {
    delete view[key];
  } else {
    view[key] = value;
  }
}
