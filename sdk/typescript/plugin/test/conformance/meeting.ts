/** Makes calls wait for each other. */
export class Meeting {
  private waiting: (() => void)[] = [];

  /** Returns once n calls are inside at the same time. */
  async meet(n: number): Promise<void> {
    await new Promise<void>((enter) => {
      this.waiting.push(enter);
      if (this.waiting.length === n) {
        this.waiting.splice(0).forEach((go) => go());
      }
    });
  }
}
