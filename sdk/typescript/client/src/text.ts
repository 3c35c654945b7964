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

/** Text that streams in pieces, which may get lost, come late or come twice. */
export class StreamedText {
  private bytes: number;

  /** Begins with the text that it goes on from. */
  constructor(private readonly begun = '') {
    this.text = begun;
    this.bytes = byteLength(begun);
  }

  /** What is known of the text. */
  text: string;

  /** Takes a piece: what is known already, or follows a gap, is dropped. */
  delta(offset: number, text: string): void {
    const bytes = byteLength(text);
    if (offset < 0 || offset > this.bytes || offset + bytes <= this.bytes) {
      return;
    }
    this.text += offset === this.bytes ? text : byteSlice(text, this.bytes - offset);
    this.bytes = offset + bytes;
  }

  /** Takes all of it, once nothing more comes. */
  end(text: string): void {
    this.text = text || this.begun;
    this.bytes = byteLength(this.text);
  }
}
