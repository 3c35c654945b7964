/** A message without what programs put around it in passing it on. */

import { exceptionName, httpStatus } from './body.js';
import { nextWord } from './causes.js';
import { tables } from './tables.js';
import { head, size, words } from './text.js';

const { limits } = tables;
const frameWords = new Set(tables.frames.words);
const statusWords = new Set(tables.frames.statusWords);
const java = new Set(['java', 'javax', 'com', 'org', 'io', 'dev', 'net', 'kotlin', 'reactor', 'ai']);
const COLOURS = /\x1b(?:\[[0-9;?]{0,32}[A-Za-z]?)?/g;
const REQUEST_ID = /[rR]equest[ _-]{0,32}[iI][dD][:= #"']{1,32}([A-Za-z0-9_@-]{1,64})/g;
const RETRYING = /[rR]etrying in [0-9.]{1,32} {0,32}[a-z]{0,32}/g;
const FULL_NAME = /[A-Za-z0-9_.]+/g;

/**
 * A message without a terminal's colours, ids of requests, when the program itself tries again, and the packages of
 * Java's exceptions, with one space between words; a line that goes on with a small letter is the same sentence.
 */
export function bare(text: string): string {
  const spaced = oneSpaced(text.replace(COLOURS, ''));
  const named = spaced.replace(REQUEST_ID, (all: string, id: string) => (id.length >= limits.id && /[0-9]/.test(id) ? '' : all));
  return named.replace(RETRYING, '').replace(FULL_NAME, withoutPackage);
}

function oneSpaced(text: string): string {
  return text.replace(/[ \t\r\n\u00a0]+/g, (run: string, at: number) => {
    const lines = run.split('\n').length - 1;
    const next = text.codePointAt(at + run.length);
    const goesOn = at > 0 && next !== undefined && /^\p{Ll}$/u.test(String.fromCodePoint(next));
    return lines > 1 || (lines === 1 && !goesOn) ? '\n' : ' ';
  });
}

function withoutPackage(name: string): string {
  const before = name.slice(0, Math.max(name.indexOf('Exception'), 0));
  return java.has(before.split('.', 1)[0] ?? '') ? name.slice(before.lastIndexOf('.') + 1) : name;
}

/** A message without the beginnings that say no more than that something failed. */
export function unframed(said: string): string {
  let text = said;
  for (let n = 0; n < limits.frames; n++) {
    const length = frameLength(text);
    if (length === 0) {
      break;
    }
    text = text.slice(length);
  }
  return text;
}

function frameLength(text: string): number {
  const start = head(text, limits.frame);
  const described = start.startsWith('code = ') ? start.indexOf(' desc = ') : -1; // of gRPC
  if (described >= 0) {
    return described + ' desc = '.length;
  }
  if (start.includes(') when calling the ') && start.startsWith('An error occurred (')) {
    for (const ending of [' operation: ', '): ']) {
      const i = text.indexOf(ending); // of AWS
      if (i >= 0 && size(text.slice(0, i)) < 2 * limits.frame) {
        return i + ending.length;
      }
    }
  }
  let i = start.indexOf(':');
  while (i >= 0 && i + 1 < start.length && start[i + 1] !== ' ' && start[i + 1] !== '\n') {
    i = start.indexOf(':', i + 1);
  }
  return i < 0 || i + 2 >= text.length || !isFrame(start.slice(0, i)) ? 0 : i + 2;
}

/** Whether all words are such as any failure is told with, or those of the name of a status after its number. */
export function isFrame(start: string): boolean {
  const numbered = words(start).split(' ').some((word) => httpStatus(word.replace(/^[()[\]]+|[()[\]]+$/g, '')) !== 0);
  const chars = [...start];
  for (let at = 0; ; ) {
    const { word, end } = nextWord(chars, at);
    at = end;
    if (word === '') {
      return true;
    }
    if (size(word) > 1 && !frameWords.has(word) && !(numbered && statusWords.has(word))) {
      return false;
    }
  }
}

/** The name of the exception of a message, behind its frames if it is there. */
export function nameOf(said: string): string {
  return exceptionName(said) || exceptionName(unframed(said));
}
