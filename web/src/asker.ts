/** What a worker that takes longer than this over one question is told: nothing more, in milliseconds. */
const MAX_MS = 1000;

/** Asks a worker of the page's own origin, one question after another. Whatever it is asked, the page does not wait, and a question that it does not get over is its last one. */
export class Asker<Question extends object, Answer> {
  private worker: Worker | undefined;
  private turn: Promise<unknown> = Promise.resolve();
  private over: ((answer: Answer | undefined) => void) | undefined;

  constructor(private readonly file: string) {}

  /** Gives the answer; undefined where there is none. */
  ask(question: Question): Promise<Answer | undefined> {
    const answer = this.turn.then(() => new Promise<Answer | undefined>((resolve) => {
      const late = setTimeout(() => {
        this.worker?.terminate();
        this.worker = undefined;
        this.over?.(undefined);
      }, this.worker ? MAX_MS : 5 * MAX_MS); // it has to be loaded first
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
      return undefined; // not every page may have one
    }
  }
}
