import type { ReactiveController, ReactiveControllerHost } from 'lit';

/** So near to the end somebody who comes down wants to see what comes in, in pixels. */
const NEAR = 24;

/** What rounding does to a place, in pixels. */
const ROUNDED = 2;

/**
 * Keeps the end of what scrolls in sight for as long as nobody goes somewhere else. What grows, or turns out to be higher than it was
 * taken for, never ends that: only a scroll towards the beginning does, whatever it is made with, and coming back to the end begins it.
 */
export class Ending implements ReactiveController {
  /** The end is kept in sight. */
  following = true;
  private scroller: HTMLElement | undefined;
  /** Where it was when it was looked at last, in pixels from the beginning. */
  private at = 0;
  /** How far from the end is what is read, in pixels, while older messages come above it. */
  private fromEnd: number | undefined;
  /** A finger is on it. */
  private held = false;
  /** What is drawn in pieces is followed once it is whole: to lay out what each piece brings into sight would take twice as long. */
  private readonly sized = new ResizeObserver(() => {
    if (!this.scroller?.querySelector('[data-drawing]')) {
      this.settle();
    }
  });

  constructor(private readonly host: ReactiveControllerHost & Element) {
    host.addController(this);
  }

  hostUpdated(): void {
    const scroller = this.host.querySelector<HTMLElement>('.scroll') ?? undefined;
    if (scroller !== this.scroller) {
      this.hostDisconnected();
      this.scroller = scroller;
      this.at = scroller?.scrollTop ?? 0;
      for (const element of [scroller, scroller?.firstElementChild]) {
        if (element) {
          this.sized.observe(element);
        }
      }
    }
    this.settle();
  }

  hostDisconnected(): void {
    this.sized.disconnect();
    this.scroller = undefined;
  }

  /** Shows the end, and keeps it in sight. */
  follow(): void {
    this.following = true;
    this.fromEnd = undefined;
    this.held = false;
    this.at = 0;
    this.host.requestUpdate();
    this.settle();
  }

  /** Keeps what is read where it is while there comes more above it, with the end of that in sight. */
  keepBelow(): void {
    const { scroller } = this;
    this.following = false;
    this.fromEnd = scroller ? scroller.scrollHeight - scroller.scrollTop + Math.round(scroller.clientHeight / 2) : undefined;
  }

  /** The person goes somewhere else. */
  readonly moved = (): void => {
    this.fromEnd = undefined;
  };

  /** What is under a finger stays there. */
  readonly touched = (e: TouchEvent): void => {
    this.moved();
    this.held = e.touches.length > 0;
    this.settle();
  };

  readonly scrolled = (): void => {
    const { scroller, at } = this;
    if (!scroller) {
      return;
    }
    this.at = scroller.scrollTop;
    const left = scroller.scrollHeight - scroller.clientHeight - this.at;
    const up = this.at < at - ROUNDED;
    const following = this.fromEnd === undefined && (left <= ROUNDED || (this.following ? !up : this.at > at && left < NEAR));
    if (following !== this.following) {
      this.following = following;
      this.host.requestUpdate();
    }
  };

  private settle(): void {
    const { scroller } = this;
    if (!scroller || this.held || scroller.querySelector('.welcome')) { // which is read from its beginning
      return;
    }
    if (this.following) {
      this.scrolled(); // somebody may have gone somewhere else, and the browser has not said so yet
    }
    if (this.following) {
      scroller.scrollTop = scroller.scrollHeight;
      this.at = scroller.scrollTop;
    } else if (this.fromEnd !== undefined) {
      scroller.scrollTop = scroller.scrollHeight - this.fromEnd;
      this.at = scroller.scrollTop;
    }
  }
}
