/** How long a worker may take over one question, in milliseconds; after that there is no answer. */
const MAX_MS = 1000;

/** Asks a worker of the page's own origin, one question at a time. The page never waits for it. A worker that takes too long is replaced. */
export class Asker<Question extends object, Answer> {
  private worker: Worker | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private over: ((answer: Answer | undefined) => void) | undefined;

  constructor(private readonly file: string) {}

  /** Returns the answer; undefined if there is none. */
  ask(question: Question): Promise<Answer | undefined> {
    const answer = this.turn.then(() => new Promise<Answer | undefined>((resolve) => {
      const late = setTimeout(() => {
        this.worker?.terminate();
        this.worker = undefined;
        this.over?.(undefined);
      }, this.worker ? MAX_MS : 5 * MAX_MS); // the first time it has to be loaded
      this.over = (given) => {
        clearTimeout(late);
        resolve(given);
      };
      const to = this.start();
      if (to) {
        to.postMessage(question);
      } else {
        this.over(undefined);
      }
    }));
    this.turn = answer;
    return answer;
  }

  private start(): Worker | undefined {
    try {
      if (!this.worker) {
        this.worker = new Worker(this.file, { type: 'module' });
        this.worker.onmessage = (e: MessageEvent<Answer>) => this.over?.(e.data);
        this.worker.onerror = () => this.over?.(undefined);
      }
      return this.worker;
    } catch {
      return undefined; // workers may be forbidden on this page
    }
  }
}
