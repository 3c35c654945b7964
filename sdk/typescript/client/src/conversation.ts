import type { Message } from './event.js';
import type { Entry, Recovery, View } from './view.js';

/** Keeps the entries of a view: the conversation as it is shown. */
export class Conversation {
  /** An answer that was cut, while the text of the call that asks for it once more is shown instead. */
  private cut: Entry | undefined;

  constructor(private readonly view: View) {}

  add(...entries: Entry[]): void {
    this.view.entries.push(...entries);
  }

  /** Shows what a run was given by who said it: a run may begin with a whole conversation. */
  given(messages: Message[]): void {
    this.add(...messages.flatMap(givenEntry));
  }

  /** Shows how far the text of an attempt that goes on, or that failed, has come; false where none of it was shown yet. */
  update(attempt: number, text: string): boolean {
    const shown = this.view.entries.find((entry) => entry.type === 'text' && entry.key === keyOf(attempt));
    if (shown?.type !== 'text') {
      return false;
    }
    shown.text = text;
    return true;
  }

  /** Takes out what an attempt wrote, and that it recovered. */
  withdraw(attempt: number): void {
    this.keep((entry) => !(entry.type === 'text' && entry.key === keyOf(attempt)) && !isRecoveryBy(entry, attempt));
  }

  /** Takes out that an attempt recovered: it failed, too. */
  withdrawRecovery(attempt: number): void {
    this.keep((entry) => !isRecoveryBy(entry, attempt));
  }

  recovered(recovery: Recovery): void {
    this.add({ type: 'recovered', recovery });
  }

  /** Takes out the last answer, which was cut: the text of the other one is there. */
  hideCut(): void {
    this.cut ??= this.view.entries.findLast((entry) => entry.type === 'text');
    this.keep((entry) => entry !== this.cut);
  }

  /** Takes the answer that was cut out for good. */
  replaceCut(): void {
    this.hideCut();
    this.cut = undefined;
  }

  /** Shows the answer that was cut again: there is no other one. */
  restoreCut(): void {
    if (this.cut) {
      this.add(this.cut);
    }
    this.cut = undefined;
  }

  private keep(wanted: (entry: Entry) => boolean): void {
    this.view.entries = this.view.entries.filter(wanted);
  }
}

/** The key of the text that an attempt wrote. */
export function keyOf(attempt: number): string {
  return `a${attempt}`;
}

/** What a message says. */
export function textOf(message: Message | undefined): string {
  return message?.parts.map((p) => p.text ?? '').join('') ?? '';
}

function isRecoveryBy(entry: Entry, attempt: number): boolean {
  return entry.type === 'recovered' && entry.recovery.attempt === attempt;
}

function givenEntry(message: Message, index: number): Entry[] {
  const text = textOf(message);
  switch (message.role) {
    case 'user': return [{ type: 'user', message }];
    case 'assistant': return text ? [{ type: 'text', key: `g${index}`, text, model: message.model ?? '', partial: false }] : [];
  }
  return [];
}
