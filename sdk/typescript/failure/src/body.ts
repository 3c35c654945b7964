/**
 * What a body says, wherever in its wrappings it says it: JSON, JSON inside strings, stream events, HTML around any of
 * these, a document that was cut short, an object as Python, JavaScript and Rust print it.
 */

import { plain, unescape, withoutScripts } from './plain.js';
import { keyAt, quoted, saysNothing, skipNested, skipSpace, unquote, WHITE, wordLength } from './scan.js';
import { withoutStack } from './shown.js';
import { named, type Field } from './table.js';
import { tables } from './tables.js';
import { clip, lines, lower, size, trim } from './text.js';

const { fineWords, limits } = tables;
const fields = named(tables.fields);

/** The value of a field, and the field's name. */
export interface Told {
  readonly name: string;
  readonly value: string;
}

const nothing: Told = { name: '', value: '' };

/** A number that can be a status of a failure, or 0. */
export function httpStatus(text: string): number {
  return Number(/^\+?0*([345][0-9]{2})$/.exec(text)?.[1] ?? 0);
}

/** The signals of a body. */
export class Body {
  readonly codes: string[] = [];
  readonly quotas: string[] = [];
  readonly words: string[] = [];
  status = 0;
  delay = nothing;
  after = nothing;
  reset = nothing;
  requestId = '';
  isError = false;
  /** How many there were: it is JSON, or has JSON in it. */
  members = 0;
  #answered = false;
  #blank = false;
  #piece = false;
  #work = 0;

  constructor(body: string) {
    let text = clip(body, limits.textScan);
    if (text.includes('&quot;') || text.includes('&#34;')) {
      text = unescape(text);
    }
    if (trim(text).startsWith('<')) {
      text = withoutScripts(text);
    }
    const before = text.indexOf('"');
    if (before >= 0 && text.slice(0, before).endsWith('{\\')) {
      text = unquote(text); // as a log prints it, inside a string
    }
    if (text !== '') {
      this.#read(text, 0);
    }
    for (const code of this.codes) {
      if (this.words.length === 0 && code.includes(' ')) {
        this.#say(code); // a sentence where a code should be is the only one
      }
    }
  }

  /** All that was said, in the order in which it was. */
  get text(): string {
    return this.words.length === 1 ? (this.words[0] ?? '') : clip(this.words.join('\n'), limits.words);
  }

  get isBlankAnswer(): boolean {
    return this.#blank && !this.#answered && !this.#piece && !this.isError;
  }

  #read(text: string, depth: number): void {
    this.#work += size(text);
    if (this.#work > limits.work) {
      return;
    }
    const start = text.search(/[{["]/);
    if (start < 0) {
      this.#say(plain(text));
      return;
    }
    const members = this.members;
    const said = this.words.length;
    const { end, whole } = this.#scan(text.slice(start), depth);
    if (this.members > members) {
      const before = trim(plain(eventPrefix(text.slice(0, start))));
      if (before !== '' && this.words.length < limits.signals) {
        this.words.splice(said, 0, clip(before, limits.detail));
      }
      this.#say(plain(eventPrefix(text.slice(start + end))));
    } else if (!whole || start > 0) {
      this.#say(plain(text));
    }
  }

  /** Goes once through text. Says where the last document ends, and whether text is nothing but a string. */
  #scan(text: string, depth: number): { end: number; whole: boolean } {
    let level = 0;
    let closed = -1;
    let before = '';
    let whole = false;
    for (let i = 0; i < text.length; ) {
      const char = text.charAt(i);
      if (WHITE.includes(char)) {
        i++;
        continue;
      }
      if (char === '{' || char === '[') {
        level++;
      } else if (char === '}' || char === ']') {
        level--;
        if (level <= 0) {
          closed = i + 1;
        }
      }
      const key = keyAt(text, i, before);
      if (key.found) {
        i = this.#member(key.name, char === '"' || char === "'", text, key.end, depth);
        if (closed >= 0) {
          closed = i;
        }
      } else if (char === '"') {
        whole = i === 0 && trim(text.slice(key.end)) === '';
        this.#loose(key.name, whole, depth);
        i = key.end;
      } else {
        i++;
      }
      before = char;
    }
    return { end: level > 0 || closed < 0 ? text.length : closed, whole };
  }

  /** Takes a string that is not a member's: one in an array, or the whole text. */
  #loose(raw: string, whole: boolean, depth: number): void {
    if (depth < limits.nesting && (raw.includes('{') || raw.includes('['))) {
      this.#read(unquote(raw), depth + 1);
    } else if (whole) {
      this.#say(unquote(raw));
    }
  }

  /** Takes the value that begins at `at` and says where to go on. A bare name counts only where it is known. */
  #member(name: string, quotedName: boolean, text: string, at: number, depth: number): number {
    let i = text.startsWith('Some(', at) ? skipSpace(text, at + 'Some('.length) : at;
    if (i >= text.length) {
      return i;
    }
    if ((text[i] === 'b' || text[i] === 'u') && (text[i + 1] === "'" || text[i + 1] === '"')) {
      i++;
    }
    const field = fields.get(lower(name));
    this.#piece ||= field === 'piece';
    const char = text.charAt(i);
    if (quotedName || (field && '"\'`{[0123456789'.includes(char))) {
      this.members++;
    }
    if (char === '"' || char === "'" || char === '`') {
      const { inside, end } = quoted(text, i);
      this.#value(field, { name, value: unquote(inside) }, depth);
      return end;
    }
    if (char === '{' || char === '[') {
      if (field === 'foreign' || field === 'answer') {
        const end = skipNested(text, i);
        this.#answer(field, saysNothing(text.slice(i, end)));
        return end;
      }
      this.isError ||= field === 'error';
      return i;
    }
    let end = i;
    while (end < text.length && !',}]) \r\n\t'.includes(text.charAt(end))) {
      end++;
    }
    const literal = text.slice(i, end);
    if (literal === 'null' || literal === 'None' || literal === 'undefined') {
      this.#answer(field, true);
    } else {
      this.#number(field, { name, value: literal });
    }
    return end;
  }

  #value(field: Field | undefined, member: Told, depth: number): void {
    const { value } = member;
    const isSentence = field === 'code' && lower(member.name) === 'reason' && value.includes(' ');
    switch (isSentence ? 'words' : field) {
      case 'code':
        this.#number('code', member);
        this.isError ||= value.toLowerCase() === 'error';
        break;
      case 'status':
      case 'delay':
      case 'after':
      case 'reset':
        this.#number(field, member);
        break;
      case 'quota':
        if (this.quotas.length < limits.signals) {
          this.quotas.push(value);
        }
        break;
      case 'requestID':
        this.requestId = clip(value, limits.requestID);
        break;
      case 'blocked':
        this.isError = true;
        this.#code('blocked_' + value);
        break;
      case 'refusal':
        this.#code('refusal');
        break;
      case 'answer':
        this.#answer(field, trim(value) === '');
        break;
      case 'error':
      case 'words':
      case 'errorWords':
        this.isError ||= field === 'error' || (field === 'errorWords' && !fineWords.includes(lower(value)));
        if (depth < limits.nesting && value.includes('{')) {
          this.#read(value, depth + 1);
        } else {
          this.#say(value);
        }
        break;
    }
  }

  /** Takes a code, a number, true or false. */
  #number(field: Field | undefined, member: Told): void {
    switch (field) {
      case 'delay':
      case 'after':
      case 'reset':
        this[field] = { name: clip(member.name, 64), value: member.value };
        break;
      case 'code':
      case 'status': {
        const status = httpStatus(member.value);
        this.status ||= status;
        if (status === 0 && field === 'code') {
          this.#code(member.value);
        }
      }
    }
  }

  /** Takes what a model wrote, of which only that there is nothing means anything. */
  #answer(field: Field | undefined, blank: boolean): void {
    if (field === 'answer') {
      this.#blank ||= blank;
      this.#answered ||= !blank;
    }
  }

  #code(written: string): void {
    const code = written.slice(written.lastIndexOf('#') + 1); // AWS puts a namespace before it
    if (code !== '' && this.codes.length < limits.signals) {
      this.codes.push(clip(code, 128));
    }
  }

  #say(text: string): void {
    const said = trim(withoutStack(text));
    if (said !== '' && this.words.length < limits.signals) {
      this.words.push(clip(said, limits.detail));
    }
  }
}

/** Leaves out the names of stream fields: "event: error", "data: ". */
function eventPrefix(text: string): string {
  const names = ['event', 'data', 'id', 'retry'];
  return lines(text).filter((line) => !names.includes(lower(trim(line).split(':', 1)[0] ?? ''))).join('');
}

/** Whether text is nothing but a name as programs have them, in more than one word: quota_exceeded. */
export function isName(text: string): boolean {
  return /^[A-Za-z0-9_\-@]{1,64}$/.test(text) && (text.indexOf('_') > 0 || /[a-z][A-Z]/.test(text));
}

/**
 * The code in a message of AWS: "ThrottlingException: Too many requests"; of gRPC: "code = Unavailable desc = …"; or
 * behind "code=" or "code: ", as logs and wrappers write it; "" where there is none.
 */
export function exceptionName(text: string): string {
  const before = 'An error occurred (';
  const at = text.indexOf(before);
  if (at >= 0) {
    const begin = at + before.length;
    const n = wordLength(text, begin);
    if (n > 0 && text[begin + n] === ')') {
      return text.slice(begin, begin + n);
    }
  }
  const n = wordLength(text, 0);
  if (text[n] === ':' && text.slice(0, n).endsWith('Exception')) {
    return text.slice(0, n);
  }
  const coded = text.indexOf('code = ');
  const begin = coded + 'code = '.length;
  const end = coded < 0 ? begin : begin + wordLength(text, begin);
  if (end > begin && text.startsWith(' desc = ', end)) {
    return text.slice(begin, end);
  }
  for (const label of ['code=', 'code: ']) {
    const found = text.indexOf(label);
    const from = found + label.length;
    const code = found < 0 ? '' : text.slice(from, from + wordLength(text, from));
    if (isName(code)) {
      return code;
    }
  }
  return '';
}
