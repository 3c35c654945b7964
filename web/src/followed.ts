import { Fold, type Client, type View } from '@mulligan-run/client';

/** A run of a conversation, followed until it ends. */
export class Followed {
  readonly fold = new Fold();
  connected = true;
  private abort = new AbortController();
  private readonly waiting = new Set<() => void>();

  constructor(readonly id: string, private readonly client: Client, private readonly changed: () => void, private readonly failed: (e: unknown) => void) {
    void this.follow();
  }

  get view(): View {
    return this.fold.view;
  }

  /** Whether it can still be stopped. */
  get alive(): boolean {
    return this.view.stopReason === undefined && this.view.suggestion === undefined;
  }

  /** Closes the connection, because a browser has only six for all its windows. */
  rest(): void {
    this.abort.abort();
  }

  /** Connects again after a rest. */
  wake(): void {
    if (this.abort.signal.aborted && this.view.stopReason === undefined) {
      this.abort = new AbortController();
      void this.follow();
    }
  }

  /** Waits until the run has settled, or for the given time. */
  settled(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!this.alive || ms === 0) {
          this.waiting.delete(look);
          resolve();
        }
      };
      setTimeout(() => { ms = 0; look(); }, ms);
      this.waiting.add(look);
      look();
    });
  }

  private async follow(): Promise<void> {
    const options = { after: this.view.seq, signal: this.abort.signal, onConnection: (connected: boolean) => { this.connected = connected; this.changed(); } };
    try {
      for await (const item of this.client.follow(this.id, options)) {
        this.fold.apply(item);
        this.changed();
        for (const look of [...this.waiting]) {
          look();
        }
      }
      this.connected = true;
      this.changed();
    } catch (error) {
      this.failed(error);
    }
  }
}
