/** What a message that no rule knows comes to: what it speaks of, and what it says of that, in nine languages. */

import { named, type Cause, type ConceptSet, type Meaning } from './table.js';
import { tables } from './tables.js';
import { clip, lower, size, trimRight } from './text.js';

const { limits, lexicon } = tables;

/** It stands between the scheme of an address and its host. */
export const ADDRESS_MARK = '://';

/** A set of concepts: more than the 32 that the operators of numbers take. */
type Concepts = bigint;

const words = named(lexicon.words);
const stems = named(lexicon.stems);
const letters = named(lexicon.letters);
const longestStem = Math.max(...[...stems.keys()].map((stem) => stem.length));
const asConcepts = (pairs: readonly (readonly [string, ConceptSet])[]) => pairs.map(([text, means]) => ({ text, means: BigInt(means) }));
const endings = asConcepts(lexicon.endings);
const unparted = asConcepts(lexicon.unparted);
const perMinute = BigInt(lexicon.perMinute);
const perDay = BigInt(lexicon.perDay);
const isPassing = BigInt(lexicon.isPassing);
const isPrefix = BigInt(lexicon.isPrefix);
const isFailed = BigInt(lexicon.isFailed);

/** In the scripts from India to Thailand, vowels are marks of letters. */
const isLetter = (char: string | undefined) => char !== undefined && (/^\p{L}$/u.test(char) || (char >= '\u0900' && char <= '\u0e7f' && /^\p{M}$/u.test(char)));
const isUpper = (char: string | undefined) => char !== undefined && /^\p{Lu}$/u.test(char);
const isLower = (char: string | undefined) => char !== undefined && /^\p{Ll}$/u.test(char);
const isUnpartedLetter = (char: string) => (char.codePointAt(0) ?? 0) >= limits.unparted || (char >= '\u0e00' && char <= '\u0e7f');
const isUnparted = (word: string) => [...word].some(isUnpartedLetter);

/** A word, or a few, that the lexicon knows, and its place among the words of the message. */
interface Tagged {
  readonly at: number;
  readonly means: Concepts;
}

type Clause = Tagged[];

/** The known words of a message, clause by clause. Names of codes come apart into their words. */
function clausesOf(said: string): Clause[] {
  const text = [...clip(said, limits.cause)];
  const clauses: Clause[] = [];
  let clause: Clause = [];
  let count = 0;
  let before: [string, string] = ['', ''];
  for (let i = 0; clauses.length < limits.clauses; ) {
    const next = nextWord(text, i);
    i = next.end;
    if (next.word !== '') {
      count++;
      for (const means of tagsOf(next.word, before, text[i] === ':')) {
        clause.push({ at: count, means });
      }
      before = [before[1], next.word];
    }
    if (clause.length > 0 && (next.word === '' || clauseEnds(text, i))) {
      clauses.push(clause);
      clause = [];
    }
    if (next.word === '') {
      break;
    }
  }
  return clauses;
}

/**
 * What the lexicon knows of a word, by itself or with the one or two before it. A label before a colon
 * ("AI_APICallError: …") says nothing of what it stands beside.
 */
function tagsOf(word: string, before: readonly [string, string], labels: boolean): Concepts[] {
  const known = words.get(word);
  const begins = stemOf(word);
  const own = BigInt(known?.is ?? 0) | BigInt(begins?.is ?? 0) | endingOf(word);
  const tags = [labels && own & isPrefix ? own & ~isFailed : own];
  for (const phrase of [...(known?.phrases ?? []), ...(begins?.phrases ?? [])]) {
    const [last = '', first] = [...phrase.before].reverse();
    if (isA(before[1], last) && (first === undefined || isA(before[0], first))) {
      tags.push(BigInt(phrase.is));
    }
  }
  if (isUnparted(word)) {
    const two = `${before[1]} ${word}`;
    tags.push(...unparted.filter(({ text }) => two.includes(text) && !before[1].includes(text)).map(({ means }) => means));
  }
  return tags.filter((means) => means !== 0n);
}

/** What the longest stem that word begins with means. */
function stemOf(word: string): Meaning | undefined {
  for (let n = Math.min(word.length, longestStem); n > 0; n--) {
    const known = stems.get(word.slice(0, n));
    if (known) {
      return known;
    }
  }
  return undefined;
}

/** What a German word that others are put together in means: Internetverbindung. */
function endingOf(word: string): Concepts {
  return (size(word) >= limits.joined ? endings.find(({ text }) => word.endsWith(text))?.means : undefined) ?? 0n;
}

/** Whether word is the one of an entry, begins as its stem or has its ending. */
function isA(word: string, entry: string): boolean {
  if (entry.startsWith('*')) {
    return word.endsWith(entry.slice(1));
  }
  return entry.endsWith('*') ? word.startsWith(entry.slice(0, -1)) : word === entry;
}

/**
 * Whether a word only names what follows it: model in "model=x", AI in AI_APICallError and OpenAIException, Bad in
 * BadRequestError, which libraries call whatever was refused.
 */
function isLabelled(raw: string, text: readonly string[], i: number): boolean {
  const after = text[i] ?? '';
  if (raw === 'AI' && /^[_A-Z]$/.test(after)) {
    return true;
  }
  return after === '=' || ((raw === 'Bad' || raw === 'Invalid') && text.slice(i, i + 7).join('') === 'Request');
}

export function nextWord(text: readonly string[], from: number): { word: string; end: number } {
  for (let i = from; ; ) {
    while (i < text.length && !isLetter(text[i])) {
      i++;
    }
    if (i === text.length) {
      return { word: '', end: i };
    }
    const start = i;
    const end = wordEnd(text, i);
    const raw = text.slice(i, end).join('');
    i = addressEnd(text, end);
    if (isLabelled(raw, text, i) || isListed(text, start, i)) {
      continue;
    }
    if (size(raw) <= limits.word || isUnparted(raw)) {
      return { word: plainLetters(unmarked(lower(raw))), end: i };
    }
  }
}

/** Whether a word is the name of a field in a list: model in "(provider: x, model: y)". */
function isListed(text: readonly string[], start: number, i: number): boolean {
  if (text[i] !== ':' || text[i + 1] !== ' ') {
    return false;
  }
  const before = trimRight(text.slice(0, start).join(''), ' ');
  return /[([,]$/.test(before) && /[([]/.test(before);
}

/** Where the address ends whose scheme ends at `from`: its host and path say nothing about a failure. */
export function addressEnd(text: ArrayLike<string>, from: number): number {
  let end = from;
  for (const char of ADDRESS_MARK) {
    if (text[end++] !== char) {
      return from;
    }
  }
  for (let char = text[end] ?? ''; char > ' ' && char < '\x80' && !'"\'`<>()[]{}|\\'.includes(char); char = text[end] ?? '') {
    end++;
  }
  while ('.,:;!?'.includes(text[end - 1] ?? ' ')) {
    end--;
  }
  return end;
}

function clauseEnds(text: readonly string[], from: number): boolean {
  for (let i = from; i < text.length; i++) {
    const char = text[i] ?? '';
    const after = text[i + 1] ?? '\n';
    if ('\n;!?。！？；·|।'.includes(char) || (char === '.' && (after === ' ' || after === '\n'))) {
      return true;
    }
    if (isLetter(char)) {
      return false;
    }
  }
  return true;
}

/**
 * Without apostrophes, a French article before one or an English genitive after one: doesn't is doesnt, l'entrée is
 * entrée, the model's is the model.
 */
function unmarked(word: string): string {
  const straight = word.replaceAll('’', "'").replace(/'s$/, '');
  return /^[cdjlmnst]'./.test(straight) ? straight.slice(2) : straight.replaceAll("'", '');
}

/** Those who write in a hurry leave the marks over letters out. */
function plainLetters(word: string): string {
  return word.replace(/[^\0-\x7f]/g, (letter) => letters.get(letter) ?? letter);
}

/**
 * Where a word ends: before what is no letter; within a name, as in statusCode and APIError; and where Latin letters
 * give way to those of a language that does not part its words.
 */
function wordEnd(text: readonly string[], start: number): number {
  let before: string | undefined;
  for (let i = start; i < text.length; i++) {
    const char = text[i] ?? '';
    const after = text[i + 1];
    if (char === "'" || char === '’') {
      if (!isLetter(after)) {
        return i;
      }
    } else if (!isLetter(char)) {
      return i;
    } else if (before !== undefined) {
      const begins = isUpper(char) && (isLower(before) || (isUpper(before) && isLower(after)));
      if (begins || (isUnpartedLetter(char) && !isUnpartedLetter(before))) {
        return i;
      }
    }
    before = char;
  }
  return text.length;
}

export interface Found {
  readonly kind: string;
  readonly variant: string;
  readonly wire: boolean;
}

/** Whether a message speaks of a day, a month or a plan. */
export function saysDay(said: string): boolean {
  return clausesOf(said).some((clause) => (union(clause) & perDay) !== 0n);
}

/**
 * The first cause that a clause says, of those that may be said over a status of this family; of all where it is none.
 * `minutes`: the message speaks of them elsewhere.
 */
export function causeOf(said: string, over: number, minutes: boolean): Found | undefined {
  const clauses = clausesOf(said).map((clause) => ({ clause, means: union(clause) }));
  const all = clauses.reduce((means, each) => means | each.means, minutes ? perMinute : 0n);
  for (const cause of tables.causes) {
    if ((over !== 0 && ((cause.over ?? 0) & over) === 0) || (cause.brief && !(all & perMinute))) {
      continue;
    }
    const unless = BigInt(cause.unless ?? 0);
    if (!clauses.some(({ clause, means }) => !(means & unless) && says(cause, clause))) {
      continue;
    }
    const wire = cause.wire ?? false;
    if (cause.passing && all & isPassing) {
      return { kind: cause.passing, variant: '', wire };
    }
    return { kind: cause.kind, variant: cause.variant ?? '', wire };
  }
  return undefined;
}

function union(clause: Clause): Concepts {
  return clause.reduce((means, word) => means | word.means, 0n);
}

function says(cause: Cause, clause: Clause): boolean {
  const aboutWhat = BigInt(cause.about);
  const saysWhat = BigInt(cause.says ?? 0);
  let about: Place | undefined;
  let said: Place | undefined;
  for (const [i, word] of clause.entries()) {
    if (word.means & aboutWhat) {
      about = { i, at: word.at };
    }
    if (word.means & saysWhat) {
      said = { i, at: word.at };
    }
    if (about && (saysWhat === 0n || (said && isSaidOf(about, said, cause.follows ?? false)))) {
      return true;
    }
  }
  return false;
}

interface Place {
  readonly i: number;
  readonly at: number;
}

function isSaidOf(about: Place, said: Place, follows: boolean): boolean {
  return Math.abs(about.at - said.at) <= limits.nearWords && (!follows || about.i < said.i);
}
