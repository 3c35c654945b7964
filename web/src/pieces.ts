/** A part of a message that is drawn at once. */
export interface Piece {
  kind: 'markdown' | 'code' | 'plain';
  text: string;
  /** It continues the code block of the piece before it. */
  joined?: boolean;
  /** The language that the author gave. */
  language?: string;
}

/** The most that is drawn at once, in characters: of text with many special characters, and of any text. */
const MAX_DENSE = 2_000;
const MAX_PIECE = 16_000;
const MAX_TABLE = 8_000;
const MAX_ROWS = 300;
const MAX_LINE = 20_000;

/** A piece with this many special characters or lines is dense. */
const MANY = 200;

/** In a text longer than this, small pieces are merged, so that there are not too many. */
const LONG = 40_000;
const MIN_PIECE = 1_500;

/** More nesting levels or table columns than these are unreadable. */
const MAX_DEPTH = 12;
const MAX_COLUMNS = 64;

/** How much the definitions of links that a message's pieces share may have, in characters. */
const MAX_DEFINITIONS = 2_000;

const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const item = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const delimiters = /^[ |:\t-]*$/;
const sign = /[*_~`[\]<>|!\\&@#]/g;
const deep = new RegExp(`^(?:[ \\t]*(?:>|(?:[-*+]|\\d{1,9}[.)])[ \\t])){${MAX_DEPTH + 1}}`, 'm');
const endless = /\S{1000}/;
const definition = /^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*\S{1,2000}.*$/gm;

/** What the pieces after one need to know about it. */
interface Carried {
  /** The fence of a code block that continues. */
  fence?: string;
  /** The head of a table that continues. */
  head?: string;
  /** Up to where the text is known to be dense. */
  denseTo?: number;
}

interface Cut extends Piece {
  from: number;
  to: number;
  before: Carried;
  after: Carried;
}

/**
 * A text cut into pieces, each of which takes bounded time to draw. The cutting takes time proportional to
 * the text's length, whatever its content. When the text grows, cutting resumes at the last piece.
 */
export class Pieces {
  private text = '';
  private cuts: Cut[] = [];
  private definitions = '';

  /** Takes the current text, and returns how many pieces are unchanged. */
  take(text: string): number {
    const definitions = definitionsIn(text);
    const grown = definitions === this.definitions && text.startsWith(this.text);
    if (text === this.text) {
      return this.cuts.length;
    }
    const last = grown ? this.cuts.pop() : undefined;
    if (!last) {
      this.cuts = [];
    }
    const kept = this.cuts.length;
    this.text = text;
    this.definitions = definitions;
    let at = last?.from ?? 0;
    let carried = last?.before ?? {};
    while (at < text.length) {
      const cut = next(text, at, carried);
      if (cut.text !== '') {
        this.cuts.push(cut);
      }
      at = cut.to;
      carried = cut.after;
    }
    return kept;
  }

  get length(): number {
    return this.cuts.length;
  }

  /** Where a piece begins in the text. */
  startOf(i: number): number {
    return this.cuts[i]?.from ?? 0;
  }

  /** The length of a piece, in characters. */
  sizeOf(i: number): number {
    return (this.cuts[i]?.to ?? 0) - this.startOf(i);
  }

  /** Returns a piece; if it is Markdown, with the definitions of the message's links. */
  at(i: number): Piece {
    const cut = this.cuts[i];
    if (!cut) {
      return { kind: 'plain', text: '' };
    }
    if (cut.kind === 'code') {
      return { ...cut, joined: cut.before.fence !== undefined };
    }
    return this.definitions && cut.kind === 'markdown' ? { kind: cut.kind, text: `${cut.text}\n\n${this.definitions}` } : cut;
  }
}

function definitionsIn(text: string): string {
  let all = '';
  if (text.includes(']:')) {
    for (const [line] of text.matchAll(definition)) {
      if (all.length + line.length > MAX_DEFINITIONS) {
        break;
      }
      all += `${line}\n`;
    }
  }
  return all;
}

/** The piece that begins at a place. */
function next(text: string, from: number, carried: Carried): Cut {
  const first = lineAt(text, from);
  const opened = fence.exec(first.line);
  if (carried.fence !== undefined || opened?.[1]) {
    const language = carried.fence === undefined ? /^[\w+#.-]{1,20}/.exec(opened?.[2]?.trim() ?? '')?.[0].toLowerCase() : undefined;
    return { ...code(text, from, carried, opened?.[1]), ...(language && { language }) };
  }
  if (first.line.trim() === '') {
    const after = first.to < (carried.denseTo ?? 0) ? carried : {};
    return { kind: 'plain', text: '', from, to: first.to, before: carried, after };
  }
  return table(text, from, carried) ?? block(text, from, carried);
}

/** A code block, or as much of it as is drawn at once. */
function code(text: string, from: number, carried: Carried, opened: string | undefined): Cut {
  const mark = carried.fence ?? opened ?? '```';
  const begin = carried.fence === undefined ? lineAt(text, from).to : from;
  const closes = new RegExp(`^ {0,3}${mark[0]}{${mark.length},}[ \\t]*$`);
  let to = begin;
  while (to < text.length) {
    const l = lineAt(text, to);
    if (closes.test(l.line)) {
      return { kind: 'code', text: text.slice(begin, to) || '\n', from, to: l.to, before: carried, after: {} };
    }
    if (l.to - begin > MAX_PIECE) {
      to = to > begin ? to : cutBefore(text, begin + MAX_PIECE);
      return { kind: 'code', text: text.slice(begin, to), from, to, before: carried, after: { fence: mark } };
    }
    to = l.to;
  }
  return { kind: 'code', text: text.slice(begin, to) || '\n', from, to, before: carried, after: carried.fence === undefined ? {} : { fence: mark } };
}

/** A table, or as many of its rows as are drawn at once, with its head. */
function table(text: string, from: number, carried: Carried): Cut | undefined {
  const head = carried.head ?? headAt(text, from);
  if (head === undefined) {
    return undefined;
  }
  const columns = head.slice(head.indexOf('\n') + 1).split('|').length;
  if (columns > MAX_COLUMNS || head.length > MAX_DENSE) {
    return block(text, from, carried, true);
  }
  let to = carried.head === undefined ? from + head.length : from;
  const begin = to;
  for (let rows = 0; to < text.length; rows++) {
    const l = lineAt(text, to);
    if (l.line.trim() === '' || l.line.length > MAX_DENSE || fence.test(l.line)) {
      break;
    }
    if (l.to - begin > MAX_TABLE || rows === MAX_ROWS) {
      return { kind: 'markdown', text: head + text.slice(begin, to), from, to, before: carried, after: { head } };
    }
    to = l.to;
  }
  return { kind: 'markdown', text: to > begin || carried.head === undefined ? head + text.slice(begin, to) : '', from, to: Math.max(to, from), before: carried, after: {} };
}

/** The first two lines of a table, if one begins there. */
function headAt(text: string, from: number): string | undefined {
  const first = lineAt(text, from);
  const second = lineAt(text, first.to);
  const is = first.line.includes('|') && second.line.includes('|') && second.line.includes('-') && delimiters.test(second.line);
  return is ? text.slice(from, second.to) : undefined;
}

/** Everything up to a blank line, or as much of it as is drawn at once. */
function block(text: string, from: number, before: Carried, plain = false): Cut {
  let { denseTo = 0 } = before;
  let to = from;
  if (from >= denseTo) {
    to = blockEnd(text, from, MAX_PIECE);
    denseTo = dense(text.slice(from, to)) ? to : 0;
  }
  if (from < denseTo) {
    to = blockEnd(text, from, MAX_DENSE, MANY);
  }
  const piece = dedented(text.slice(from, to));
  const kind = plain || deep.test(piece) ? 'plain' : 'markdown';
  return { kind, text: piece, from, to, before, after: to < denseTo ? { denseTo } : {} };
}

function dense(piece: string): boolean {
  return piece.length > MAX_DENSE && (endless.test(piece) || piece.split('\n').length > MANY || (piece.match(sign)?.length ?? 0) > MANY);
}

/** Where a block ends, or the limit of characters or lines in it. */
function blockEnd(text: string, from: number, max: number, lines = Infinity): number {
  let list = item.test(lineAt(text, from).line);
  let to = from;
  let good = 0; // the last place to cut that splits nothing
  for (let n = 0; to < text.length; n++) {
    const l = lineAt(text, to);
    if (l.to - from > max || n >= lines) {
      return good > from + Math.min(max, to - from) / 2 ? good : to > from ? to : cutBefore(text, from + max);
    }
    const blank = l.line.trim() === '';
    if (to > from && !list && !blank && fence.test(l.line)) {
      return to;
    }
    to = l.to;
    const following = lineAt(text, to).line;
    if (blank && following.trim() !== '' && !/^(?: {2}|\t)/.test(following) && !(list && item.test(following))) {
      if (from < LONG || to - from > MIN_PIECE || fence.test(following) || headAt(text, to) !== undefined) {
        return to;
      }
      list = item.test(following);
    }
    if (list && /^[-*+\d]/.test(following) && item.test(following)) {
      good = to;
    }
  }
  return to;
}

/** A place to cut that is not within a word, if there is one nearby, nor within a character. */
function cutBefore(text: string, at: number): number {
  const space = text.lastIndexOf(' ', at);
  const low = text.charCodeAt(at);
  return space > at - 200 ? space + 1 : low >= 0xdc00 && low < 0xe000 ? at - 1 : at;
}

/** Text from deep within a list, without its indentation, which would turn it into code. */
function dedented(piece: string): string {
  const margin = /^[ \t]+(?=\S)/.exec(piece)?.[0] ?? '';
  if (margin.length < 2 || !item.test(piece)) {
    return piece;
  }
  return piece.split('\n').map((l) => (l.startsWith(margin) ? l.slice(margin.length) : l)).join('\n');
}

/** The line at a place; a line without an end is read only as far as it matters. */
function lineAt(text: string, from: number): { line: string; to: number } {
  const ahead = text.slice(from, from + MAX_LINE);
  const end = ahead.indexOf('\n');
  return end < 0 ? { line: ahead, to: from + ahead.length } : { line: ahead.slice(0, end), to: from + end + 1 };
}
