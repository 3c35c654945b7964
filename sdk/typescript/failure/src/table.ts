/** The forms of the tables of the Go package `failure`, which tables.ts and texts.ts are generated from. */

export interface Rule {
  readonly kind: string;
  readonly variant?: string;
  /** Its own word where it differs from its kind's. */
  readonly retryable?: boolean;
  readonly codes?: readonly string[];
  readonly like?: readonly string[];
  readonly status?: readonly number[];
  readonly any?: readonly string[];
  readonly near?: readonly string[];
  readonly all?: readonly string[];
  readonly unless?: readonly string[];
  readonly wire?: boolean;
}

/** A set of concepts, a bit each, in decimal digits: there are more than a number of JavaScript holds. */
export type ConceptSet = string;

/** One way in which a clause says why a call failed. */
export interface Cause {
  readonly kind: string;
  readonly variant?: string;
  readonly about: ConceptSet;
  readonly says?: ConceptSet;
  readonly unless?: ConceptSet;
  /** The families of statuses that say less. */
  readonly over?: number;
  /** What it says comes after what it says that of. */
  readonly follows?: boolean;
  readonly brief?: boolean;
  readonly passing?: string;
  readonly wire?: boolean;
}

/** What is known of a word: what it means by itself, and the phrases that end with it. */
export interface Meaning {
  readonly is?: ConceptSet;
  readonly phrases?: readonly { readonly before: readonly string[]; readonly is: ConceptSet }[];
}

export interface Wording {
  readonly title?: string;
  readonly message?: readonly (readonly string[])[];
  readonly variant?: Readonly<Record<string, Wording>>;
}

export type Field =
  | 'code' | 'status' | 'words' | 'errorWords' | 'quota' | 'delay' | 'after' | 'reset' | 'requestID' | 'error' | 'blocked' | 'refusal' | 'foreign' | 'answer' | 'piece';

export interface Tables {
  readonly kinds: readonly { kind: string; code: string; retryable: boolean; once: boolean }[];
  readonly statuses: Readonly<Record<string, { kind: string; variant?: string; odd?: boolean }>>;
  readonly precedence: readonly { step: string; confidence: number }[];
  readonly causes: readonly Cause[];
  readonly families: Readonly<Record<string, number>>;
  readonly minutely: readonly string[];
  readonly denials: readonly string[];
  readonly fineWords: readonly string[];
  readonly endpointMarks: readonly string[];
  readonly rules: Readonly<Record<'exactWords' | 'strongCodes' | 'sentences' | 'generalCodes' | 'serverCodes' | 'loose' | 'wrappers', readonly Rule[]>>;
  readonly codes: Readonly<Record<'invalid' | 'request' | 'exhausted' | 'properEnds' | 'model' | 'known', readonly string[]>>;
  readonly fields: Readonly<Record<string, Field>>;
  readonly pages: Readonly<Record<'botChecks' | 'namelessNotFound', readonly string[]>>;
  readonly spoken: Readonly<Record<'leads' | 'names' | 'phrases' | 'counts' | 'stops', readonly string[]>>;
  readonly hints: {
    readonly delayLeads: readonly string[];
    readonly looseDelayLeads: readonly string[];
    readonly dateLeads: readonly string[];
    readonly units: Readonly<Record<string, number>>;
  };
  readonly requestIDHeaders: readonly string[];
  readonly lexicon: {
    readonly words: Readonly<Record<string, Meaning>>;
    readonly stems: Readonly<Record<string, Meaning>>;
    readonly endings: readonly (readonly [string, ConceptSet])[];
    readonly unparted: readonly (readonly [string, ConceptSet])[];
    readonly letters: Readonly<Record<string, string>>;
    readonly perMinute: ConceptSet;
    readonly perDay: ConceptSet;
    readonly isPassing: ConceptSet;
    readonly isPrefix: ConceptSet;
    readonly isFailed: ConceptSet;
  };
  readonly frames: Readonly<Record<'words' | 'statusWords', readonly string[]>>;
  readonly overflows: readonly string[];
  readonly sizes: Readonly<Record<'names' | 'bounds' | 'after' | 'unless', readonly string[]>> & Readonly<Record<'min' | 'max', number>>;
  readonly wordings: {
    readonly kinds: Readonly<Record<string, Wording>>;
    readonly plainTitles: Readonly<Record<string, string>>;
    readonly reasons: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  readonly limits: Readonly<
    Record<
      | 'detail' | 'nesting' | 'words' | 'signals' | 'textScan' | 'work' | 'blank' | 'likeCode' | 'near' | 'nearWords' | 'cause' | 'clauses' | 'word' | 'stem' | 'joined'
      | 'unparted' | 'frames' | 'frame' | 'id' | 'leads' | 'lead' | 'requestID' | 'message' | 'delayMs' | 'resetMs' | 'longDelayMs',
      number
    >
  >;
}

export interface Texts {
  readonly providers: Readonly<Record<string, readonly string[]>>;
  readonly keyPrefixes: readonly string[];
  readonly minKey: number;
  readonly stackTail: string;
}

/** A table by name, which has no names but its own: not those that every object of JavaScript has. */
export function named<T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(table));
}
