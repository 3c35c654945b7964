/** How near the end the person must be for the page to scroll with the answer, in pixels. */
const NEAR = 120;

/** Reports whether the person reads near the end of what can be scrolled. */
const isNear = (at: Element): boolean => at.scrollHeight - at.scrollTop - at.clientHeight < NEAR;

/** Where a person reads in a conversation that grows. */
export class Reading {
  /** The page scrolls with the answer. */
  follows = true;
  /** Where the page last scrolled to, or the person near the end, in pixels. */
  private placed = 0;
  /** The distance of what is being read from the end, in pixels, while older messages are added above. */
  private fromEnd: number | undefined;

  /** Scrolls to the end, and with the answer from then on. */
  toEnd(): void {
    this.follows = true;
    this.placed = 0;
    this.fromEnd = undefined;
  }

  /** Keeps what is being read in sight while older messages are added above. */
  keep(at: Element | null): void {
    this.follows = false;
    this.fromEnd = at ? at.scrollHeight - at.scrollTop + Math.round(at.clientHeight / 2) : undefined;
  }

  /** The person scrolls. */
  readonly moved = (): void => {
    this.fromEnd = undefined;
  };

  /** The browser tells where the person has scrolled. Reports whether the page now follows otherwise than before. */
  scrolled(at: Element): boolean {
    const before = this.follows;
    this.follows = isNear(at);
    if (this.follows) {
      this.placed = at.scrollTop;
    }
    return before !== this.follows;
  }

  /** The conversation has grown. Reports whether the page now follows otherwise than before. */
  settle(at: Element): boolean {
    if (this.follows && at.scrollTop < this.placed - 1 && !isNear(at)) { // the person has scrolled, and the browser tells that later
      this.follows = false;
      return true;
    }
    if (this.follows) {
      at.scrollTop = at.scrollHeight;
      this.placed = at.scrollTop;
    } else if (this.fromEnd !== undefined) {
      at.scrollTop = at.scrollHeight - this.fromEnd;
    }
    return false;
  }
}
