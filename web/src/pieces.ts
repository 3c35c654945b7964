/** A stretch of a message that is drawn at once. */
export interface Piece {
  kind: 'markdown' | 'code' | 'plain';
  text: string;
  /** It goes on with the code block of the piece before it. */
  joined?: boolean;
  /** The language that its author names. */
  language?: string;
}

/** More than this at once takes too long to draw, in characters: of text full of signs, and of any. */
const MAX_DENSE = 2_000;
const MAX_PIECE = 16_000;
const MAX_TABLE = 8_000;
const MAX_ROWS = 300;
const MAX_LINE = 20_000;

/** So many signs of Markdown or lines in a piece make it a dense one. */
const MANY = 200;

/** Of a long text small pieces are taken together, so that there are not too many. */
const LONG = 40_000;
const MIN_PIECE = 1_500;

/** More levels in each other, or columns beside each other, nobody reads. */
const MAX_DEPTH = 12;
const MAX_COLUMNS = 64;

/** The definitions of links that a message's pieces share, in characters. */
const MAX_DEFINITIONS = 2_000;

const fence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const item = /^[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/;
const delimiters = /^[ |:\t-]*$/;
const sign = /[*_~`[\]<>|!\\&@#]/g;
const deep = new RegExp(`^(?:[ \\t]*(?:>|(?:[-*+]|\\d{1,9}[.)])[ \\t])){${MAX_DEPTH + 1}}`, 'm');
const endless = /\S{1000}/;
const definition = /^ {0,3}\[[^\]\n]{1,200}\]:[ \t]*\S{1,2000}.*$/gm;

/** What the pieces after one need to know of it. */
interface Carried {
  /** The fence of a code block that goes on. */
  fence?: string;
  /** The head of a table that goes on. */
  head?: string;
  /** Up to where the text was found to be dense. */
  denseTo?: number;
}

interface Cut extends Piece {
  from: number;
  to: number;
  before: Carried;
  after: Carried;
}

/**
 * A text, cut into pieces each of which is drawn in a bounded time: in time proportional to
 * its length, whatever stands in it. Text that grows is cut on from its last piece.
 */
export class Pieces {
  private text = '';
  private cuts: Cut[] = [];
  private definitions = '';

  /** Takes the text as it is now, and gives how many pieces are as they were. */
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

  /** Where in the text a piece begins. */
  startOf(i: number): number {
    return this.cuts[i]?.from ?? 0;
  }

  /** How much of the text a piece is, in characters. */
  sizeOf(i: number): number {
    return (this.cuts[i]?.to ?? 0) - this.startOf(i);
  }

  /** A piece; as Markdown it has what the message's links refer to. */
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

/** A table, or as many of its rows as are drawn at once, below its head. */
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

/** What goes together up to a blank line, or as much of it as is drawn at once. */
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

/** Where a block ends, or so many characters or lines of it do. */
function blockEnd(text: string, from: number, max: number, lines = Infinity): number {
  let list = item.test(lineAt(text, from).line);
  let to = from;
  let good = 0; // the last place to cut at, where nothing is torn apart
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

/** A place to cut at that is not within a word, if there is one near, nor within a character. */
function cutBefore(text: string, at: number): number {
  const space = text.lastIndexOf(' ', at);
  const low = text.charCodeAt(at);
  return space > at - 200 ? space + 1 : low >= 0xdc00 && low < 0xe000 ? at - 1 : at;
}

/** What goes on deep within a list stands by itself: its indentation would make code of it. */
function dedented(piece: string): string {
  const margin = /^[ \t]+(?=\S)/.exec(piece)?.[0] ?? '';
  if (margin.length < 2 || !item.test(piece)) {
    return piece;
  }
  return piece.split('\n').map((l) => (l.startsWith(margin) ? l.slice(margin.length) : l)).join('\n');
}

/** The line at a place; one without an end is looked at as far as it matters. */
function lineAt(text: string, from: number): { line: string; to: number } {
  const ahead = text.slice(from, from + MAX_LINE);
  const end = ahead.indexOf('\n');
  return end < 0 ? { line: ahead, to: from + ahead.length } : { line: ahead.slice(0, end), to: from + end + 1 };
}
