import type { Kind } from './tables.js';

/** How far an attempt had come. */
export type Phase = 'prompt' | 'before_connect' | 'before_first_event' | 'mid_stream' | 'end_of_stream' | 'tool';

/** All that is known of a failed attempt. Nothing in it may be text that a model wrote or a tool printed. */
export interface Evidence {
  /** HTTP status; 0: none was seen. */
  readonly status?: number;
  readonly headers?: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw error body or error event; secrets already removed. */
  readonly body?: string | Uint8Array;
  /** What the transport or the decoder said. */
  readonly error?: string;
  /** That error was a timer's. */
  readonly timedOut?: boolean;
  /** What you call the provider, for example "openai" or "openai-work". */
  readonly provider?: string;
  /** provider/model */
  readonly model?: string;
  /** What you know for sure. */
  readonly kind?: string;
  readonly phase?: Phase | '';
  /** When it arrived; dates in headers are relative to it, or to the header Date. */
  readonly at?: Date;
}

/** What went wrong with an attempt. */
export interface Failure {
  /** One of KINDS, or the one that you knew for sure: a reader keeps kinds that it does not know. */
  readonly kind: Kind | (string & {});
  /** A stable name in capitals that several kinds may share: MODEL_PROVIDER_RATE_LIMITED. */
  readonly code: string;
  /** The same input may succeed later. */
  readonly retryable: boolean;
  /** And if, a single retry makes sense, and no more. */
  readonly once: boolean;
  /** For people; `title + '. ' + message` is the one-line form. */
  readonly title: string;
  readonly message: string;
  /** The provider's words, at most 8 KiB. */
  readonly detail: string;
  /** A finer word than the kind, for people alone: missing, expired_login, … */
  readonly variant: string;
  readonly origin: string;
  readonly phase: string;
  readonly provider: string;
  readonly model: string;
  readonly httpStatus: number;
  readonly providerCode: string;
  readonly requestId: string;
  /** The provider's own demand; 0: none. */
  readonly retryAfterMs: number;
  /** How sure it is: of a hundred failures recognised in this way, how many were right at first sight. */
  readonly confidence: number;
  /** When a quota is full again. */
  readonly resetsAt?: Date;
}
