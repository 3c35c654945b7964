const encoder = new TextEncoder();

/** The length of text in bytes of UTF-8. */
export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The part of text from byte `from` to byte `to`; what is cut inside a character loses it. */
export function byteSlice(text: string, from: number, to?: number): string {
  const bytes = encoder.encode(text);
  return new TextDecoder().decode(bytes.subarray(from, to));
}

/**
 * Streamed text that arrives twice: durably in checkpoints, which a client never misses, and
 * live in deltas, which it may miss, get late or get twice.
 */
export class StreamedText {
  private durable = '';
  private durableBytes = 0;
  private live = '';
  private liveBytes = 0;

  /** What is known of the text. */
  get text(): string {
    return this.live;
  }

  /** Takes a durable piece; one that leaves a gap is no part of the text. */
  checkpoint(offset: number, text: string): void {
    if (offset < 0 || offset > this.durableBytes) {
      return;
    }
    if (offset < this.durableBytes) {
      this.durable = byteSlice(this.durable, 0, offset);
    }
    this.durable += text;
    this.durableBytes = offset + byteLength(text);
    if (this.liveBytes <= this.durableBytes || !this.live.startsWith(this.durable)) {
      this.live = this.durable;
      this.liveBytes = this.durableBytes;
    }
  }

  /** Takes a live piece: what is known already, or follows a gap, is dropped. */
  delta(offset: number, text: string): void {
    const bytes = byteLength(text);
    if (offset > this.liveBytes || offset + bytes <= this.liveBytes) {
      return;
    }
    this.live += offset === this.liveBytes ? text : byteSlice(text, this.liveBytes - offset);
    this.liveBytes = offset + bytes;
  }
}
