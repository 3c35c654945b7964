import type { Bodies, Message } from './event.js';
import { since } from './figures.js';
import type { ToolRun } from './view.js';

/** The tool calls of the last answer. */
export class ToolCalls {
  private calls: ToolRun[] = [];

  /** Takes the calls that an answer asks for in the place of those of the one before. */
  ask(message: Message): readonly ToolRun[] {
    this.calls = message.parts.flatMap((p) => (p.call ? [{ id: p.call.id, name: p.call.name, args: p.call.args, state: 'asked' as const }] : []));
    return this.calls;
  }

  /** Takes it that the last answer asks for none that we carry out. */
  askNone(): void {
    this.calls = [];
  }

  get none(): boolean {
    return this.calls.length === 0;
  }

  began(time: string, b: Bodies['tool_began']): void {
    const call = this.unfinished(b.callId);
    if (call) {
      call.state = 'running';
      call.beganAt = time;
      delete call.says;
    }
  }

  /** Says whether the result is of a call that had none. */
  returned(time: string, b: Bodies['tool_returned']): boolean {
    const call = this.unfinished(b.callId);
    if (!call) {
      return false;
    }
    call.state = b.outcome;
    call.result = b.result.text;
    delete call.says;
    if (call.beganAt) {
      call.elapsedMs = Math.max(b.elapsedMs ?? 0, since(call.beganAt, time));
    }
    return true;
  }

  noted(b: Bodies['noted']): void {
    const call = this.unfinished(b.callId ?? '');
    if (call && b.topic === 'tool_says' && b.detail) {
      call.says = b.detail;
    }
  }

  /** Takes a call's result back, and says whether there was one. */
  rerun(callId: string | undefined): boolean {
    const call = this.calls.find((t) => t.id === callId && t.result !== undefined);
    if (!call) {
      return false;
    }
    call.state = 'asked';
    delete call.result;
    delete call.elapsedMs;
    return true;
  }

  /** Takes it that the run has ended. */
  end(): void {
    for (const call of this.calls.filter(isUnfinished)) {
      call.state = 'stopped';
    }
  }

  private unfinished(callId: string): ToolRun | undefined {
    return this.calls.find((call) => call.id === callId && isUnfinished(call));
  }
}

function isUnfinished(call: ToolRun): boolean {
  return call.state === 'asked' || call.state === 'running';
}
