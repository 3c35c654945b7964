import { newId, Problem, seen, type Choice, type Client, type Defaults, type Lab, type Listed, type Message, type Start } from '@mulligan-run/client';

import { draftOf, keepDraft, keepPictures, keepQueue, picturesWith, queueOf } from './drafts.js';
import { heldBack, unseenElsewhere } from './elsewhere.js';
import { Followed } from './followed.js';
import { ofTheLab } from './labstart.js';
import type { Picture } from './pictures.js';

/** How many runs of a conversation are shown at first, and how many more each time. */
const PAGE = 20;

/** How long a run may take to end before the message that replaces it is sent, in milliseconds. */
const STOP_MS = 5000;

/** What was said in another conversation that this one begins with. */
export type Beginning = Pick<Start, 'branchOf' | 'messages'>;

/** A conversation: its runs, and what the next one starts with. */
export class Conversation {
  runs: Followed[] = [];
  loading = true;
  /** The cursor for older runs, if there are more. */
  older: string | undefined;
  /** The person's choices for the next message; undefined means the gateway's default. */
  model: string | undefined;
  autoRecover: boolean | undefined;
  /** What went wrong with the person's last action. */
  trouble = '';
  /** The id of the suggestion, wait or call that was answered, until the run confirms it. */
  answering = '';
  /** Messages that wait for the current run to end. */
  queued: string[];
  /** The message that is being sent. */
  sending = '';
  signedOut = false;
  /** The fault lab, if the messages of this conversation go there and to no other model. */
  lab: Lab | undefined;
  /** An earlier message that is being edited: what was said before it, and the draft that it replaces. */
  editing: { beginning: Beginning; draft: string; pictures: Picture[] } | undefined;
  /** The trouble is that the gateway did not answer. */
  unreachable = false;
  private typed: string | undefined;
  private defaults: Defaults = {};
  /** What was said in another conversation before this one's first message. */
  private beginning: Beginning = {};
  /** The message that was sent last, until its run is known. */
  private unanswered: { what: string; key: string } | undefined;

  constructor(readonly client: Client, readonly session: string, private readonly changed: () => void, private fresh: boolean, readonly only?: string) {
    this.queued = queueOf(session);
  }

  get last(): Followed | undefined {
    return this.runs.at(-1);
  }

  /** What was said before a run's message; undefined if that cannot be known. */
  private async upTo(run: Followed): Promise<Beginning | undefined> {
    if (run === this.runs[0] && this.older && !await this.loadOlder()) {
      return undefined;
    }
    const before = this.runs[this.runs.indexOf(run) - 1];
    const [started] = run.view.events;
    const given = started?.type === 'started' ? started.data.input.slice(0, -1) : []; // of a run that begins with a whole conversation
    return { ...(before && { branchOf: before.id }), ...(given.length > 0 && { messages: given }) };
  }

  /** Starts to edit a run's message, and reports whether that is possible; what follows it stays as it is. */
  async edit(run: Followed): Promise<boolean> {
    const beginning = await this.upTo(run);
    if (!beginning) {
      return false;
    }
    const { draft, pictures } = this.editing ?? this;
    this.editing = { beginning, draft, pictures };
    this.again(run);
    return true;
  }

  /** Puts a run's message into the composer. */
  again(run: Followed): void {
    this.draft = run.view.prompt;
    this.pictures = picturesOf(run);
  }

  /** Ends the editing and restores the draft. */
  leaveEdit(): void {
    this.draft = this.editing?.draft ?? '';
    this.pictures = this.editing?.pictures ?? [];
    this.editing = undefined;
  }

  /** Begins a conversation with what was said and chosen in this one. */
  branch(session: string, beginning: Beginning): Conversation {
    const c = new Conversation(this.client, session, this.changed, false);
    Object.assign(c, { loading: false, model: this.model, autoRecover: this.autoRecover, lab: this.lab, defaults: { ...this.defaults }, beginning });
    return c;
  }

  /** The text in the composer. A new conversation's draft moves on to the next new one. */
  get draft(): string {
    this.typed ??= draftOf(this.draftKey);
    return this.typed;
  }

  set draft(text: string) {
    this.typed = text;
    keepDraft(this.draftKey, text);
  }

  /** The pictures in the composer. */
  get pictures(): Picture[] {
    return picturesWith(this.draftKey);
  }

  set pictures(pictures: Picture[]) {
    keepPictures(this.draftKey, pictures);
  }

  private get draftKey(): string {
    return this.fresh ? 'new' : this.only ?? this.session;
  }

  /** Loads the newest runs and follows them. */
  async load(): Promise<void> {
    await this.try(async () => {
      if (this.only) {
        this.add([{ id: this.only }]);
      } else {
        const session = await this.client.session(this.session, { limit: PAGE });
        this.defaults = session.defaults ?? {};
        this.model ??= this.defaults.model || undefined;
        this.autoRecover ??= this.defaults.autoRecover;
        this.older = session.next;
        this.add(session.runs.reverse());
      }
      if (this.last) {
        await this.client.run(this.last.id); // this also updates the gateway's time
      }
    });
    this.loading = false;
    this.changed();
  }

  async loadOlder(): Promise<boolean> {
    return this.try(async () => {
      const page = await this.client.runs({ session: this.session, limit: PAGE, ...(this.older && { before: this.older }) });
      this.older = page.next;
      const before = page.runs.reverse().map((run) => this.follow(run.id));
      this.runs = [...before, ...this.runs];
    });
  }

  /** Looks for runs that another window has begun. */
  notice(newest: Listed): void {
    if (!this.loading && !this.sending && !this.runs.some((run) => run.id === newest.id)) {
      void this.load();
    }
  }

  /** Nothing has been sent in it. */
  get isNew(): boolean {
    return this.fresh;
  }

  /** Queues a message until the current run ends. */
  enqueue(text: string): void {
    this.draft = '';
    this.keepQueue([...this.queued, text]);
  }

  /** Removes a message from the queue. */
  unqueue(i: number): void {
    this.keepQueue(this.queued.filter((_, at) => at !== i));
  }

  /** Sends the first queued message now and stops the current run. */
  async interrupt(): Promise<void> {
    const [next] = this.queued;
    if (next !== undefined && !this.sending) {
      this.unqueue(0);
      const draft = this.draft;
      if (!await this.send(next)) { // it goes on waiting
        this.draft = this.draft === next ? '' : this.draft;
        this.keepQueue([next, ...this.queued]);
      }
      this.draft = [draft, this.draft].filter(Boolean).join('\n'); // something may have been typed meanwhile
    }
  }

  private keepQueue(queued: string[]): void {
    this.queued = queued;
    keepQueue(this.session, queued);
    this.changed();
  }

  /** Sends the queued message when there is an answer; if the run failed or was stopped, the person decides. */
  private goOn(): void {
    if (this.last?.view.status === 'completed' && this.last.view.stopReason) {
      void this.interrupt();
    }
  }

  /** Sends a message, and reports whether that worked; the current run is stopped first. */
  async send(prompt: string, pictures: Picture[] = [], fault = ''): Promise<boolean> {
    const { fresh } = this;
    this.sending = prompt || '[picture]';
    this.draft = '';
    this.fresh = false;
    this.trouble = '';
    this.changed();
    let held: Listed | undefined;
    const sent = await this.try(async () => {
      const start: Start = {
        session: this.session, ...this.saying(prompt, pictures), ...(this.model && { model: this.model }),
        ...(this.autoRecover !== undefined && { autoRecover: this.autoRecover }),
        ...ofTheLab(this.lab),
      };
      const again = this.unanswered?.what === JSON.stringify(start); // what it began before is not unseen
      if (!fresh && !again && (held = await unseenElsewhere(this.client, this.session, this.runs))) {
        await this.load();
        this.trouble = heldBack(held);
        return;
      }
      const last = this.last;
      if (last?.alive) {
        await this.client.cancel(last.id);
        await last.settled(STOP_MS);
      }
      if (this.lab) {
        await this.client.failNext(fault);
      }
      this.add([await this.client.start(start, this.keyOf(start))]);
    }) && !held;
    this.sending = '';
    if (!sent && !this.draft) {
      this.draft = prompt; // what was typed must not be lost
      this.pictures = pictures;
    }
    this.changed();
    return sent;
  }

  /** The input of the next run, including what was said in another conversation. */
  private saying(prompt: string, pictures: Picture[]): Partial<Start> {
    const { branchOf, messages = [] } = this.runs.length === 0 ? this.beginning : {};
    const said: Message[] = pictures.length === 0 ? [] : [{ role: 'user', parts: [...pictures.map((image) => ({ image })), ...(prompt ? [{ text: prompt }] : [])] }];
    const all = [...messages, ...said];
    return { ...(branchOf && { branchOf }), ...(all.length > 0 && { messages: all }), ...(said.length === 0 && { prompt }) };
  }

  /** The gateway answers again: clears that error, and loads what could not be loaded. */
  answers(): void {
    if (this.unreachable) {
      this.unreachable = false;
      this.trouble = '';
      if (this.runs.length === 0 && !this.fresh) {
        void this.load();
      }
      this.changed();
    }
  }

  /** Answers what the last run asks. */
  async answer(asks: string, choice: Omit<Choice, 'suggestion'>): Promise<void> {
    const run = this.last;
    if (!run || this.answering === asks) {
      return;
    }
    this.answering = asks;
    this.trouble = '';
    this.changed();
    try {
      await this.client.recover(run.id, { ...choice, suggestion: asks });
    } catch (error) {
      this.answering = '';
      const late = error instanceof Problem && (error.status === 409 || error.status === 410);
      if (!late || !run.alive) { // otherwise it has continued, as people can see
        this.wrong(error);
      }
    }
    this.changed();
  }

  /** Stops the current run. */
  async stop(): Promise<void> {
    const run = this.last;
    if (!run) {
      return;
    }
    const s = seen(run.view, this.client.now());
    const stop = s.actions.find((a) => a.kind === 'stop');
    if (s.asks && stop) {
      await this.answer(s.asks, { action: stop.id });
    } else if (run.alive) {
      await this.try(() => this.client.cancel(run.id));
    }
  }

  /** Saves the auto-recover setting for the next messages. */
  async setAutoRecover(on: boolean): Promise<void> {
    this.autoRecover = on;
    await this.keep({ autoRecover: on });
  }

  /** Saves the model for the next messages; "" means the gateway's default. */
  async setModel(model: string): Promise<void> {
    this.model = model || undefined;
    await this.keep({ model });
  }

  /** Stops following runs, for a while or for good. */
  rest(): void {
    for (const run of this.runs) {
      run.rest();
    }
  }

  /** Follows runs again after a rest. */
  wake(): void {
    for (const run of this.runs) {
      run.wake();
    }
  }

  private async keep(change: Defaults): Promise<void> {
    this.defaults = { ...this.defaults, ...change };
    if (!this.defaults.model) {
      delete this.defaults.model;
    }
    this.changed();
    await this.try(() => this.client.setSession(this.session, this.defaults));
  }

  /** The idempotency key of a message. If its response was lost it may have begun a run, so a repeated message keeps its key. */
  private keyOf(start: Start): string {
    const what = JSON.stringify(start);
    if (this.unanswered?.what !== what) {
      this.unanswered = { what, key: newId() };
    }
    return this.unanswered.key;
  }

  private add(runs: { id: string }[]): void {
    for (const run of runs) {
      if (!this.runs.some((known) => known.id === run.id)) {
        this.runs.push(this.follow(run.id));
        this.unanswered = undefined;
      }
    }
    this.changed();
  }

  private follow(id: string): Followed {
    return new Followed(id, this.client, () => { this.changed(); this.goOn(); }, (error) => this.wrong(error));
  }

  private async try(what: () => Promise<unknown>): Promise<boolean> {
    try {
      await what();
      return true;
    } catch (error) {
      this.wrong(error);
      return false;
    }
  }

  private wrong(error: unknown): void {
    this.signedOut = error instanceof Problem && error.status === 401;
    this.unreachable = !(error instanceof Problem);
    this.trouble = explain(error);
    this.changed();
  }
}

/** The pictures of a run's message. */
export function picturesOf(run: Followed): Picture[] {
  const asked = run.view.entries.findLast((entry) => entry.type === 'user');
  return asked?.type === 'user' ? asked.message.parts.flatMap((p) => p.image ?? []) : [];
}

/** What went wrong with a request, and what to do, in a sentence. */
export function explain(error: unknown): string {
  if (!(error instanceof Problem)) {
    return 'Mulligan is not answering. Is `mulligan serve` still running?';
  }
  const [field] = error.fields;
  switch (error.status) {
    case 401: return 'You are signed out. Open the link that `mulligan serve` or `mulligan login` prints.';
    case 410: return 'This suggestion has expired. Send your message again.';
  }
  return sentence(field?.message && field.message !== error.message ? `${error.message}: ${field.message}` : error.message);
}

/** Text with a capital at the beginning and a full stop at the end. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}
