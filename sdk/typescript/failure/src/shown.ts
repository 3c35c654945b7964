/** Somebody else's words in a sentence of ours: without stacks, and without keys. */

import { plain } from './plain.js';
import { isTidy, lines, size, tidy, trim } from './text.js';
import { texts } from './texts.js';

/** Leaves out the lines in which a program says where it was. */
export function withoutStack(text: string): string {
  if (!text.includes('\n')) {
    return text;
  }
  const kept: string[] = [];
  for (const line of lines(text)) {
    if (line.startsWith('goroutine ') && line.includes('[')) {
      break;
    }
    if (!isStackLine(line)) {
      kept.push(line);
    }
  }
  return kept.join('');
}

function isStackLine(line: string): boolean {
  const bare = trim(line);
  return (
    (bare.startsWith('at ') && (line.startsWith(' ') || line.startsWith('\t') || bare.endsWith(')'))) ||
    bare.startsWith('Traceback (most recent call last)') ||
    (bare.startsWith('File "') && bare.includes(', line '))
  );
}

const stackTail = new RegExp(texts.stackTail);

/** Somebody else's words, fit to stand in a sentence. */
export function shown(text: string): string {
  if (isTidy(text) && size(text) < texts.minKey && !text.includes('<')) {
    return text;
  }
  const line = tidy(plain(withoutStack(text)));
  const cut = line.search(stackTail);
  return withoutKeys(cut < 0 ? line : trim(line.slice(0, cut)));
}

const token = /[A-Za-z0-9_\-.+*]+/y;
const userinfo = /:\/\/[^@/ "]*@/y;

function matchAt(pattern: RegExp, text: string, i: number): string {
  pattern.lastIndex = i;
  return pattern.exec(text)?.[0] ?? '';
}

function withoutKeys(text: string): string {
  const out: string[] = [];
  let kept = 0;
  let bearer = false;
  for (let i = 0; i < text.length; ) {
    const found = matchAt(token, text, i);
    if (found === '') {
      bearer &&= ' :'.includes(text.charAt(i));
      const user = matchAt(userinfo, text, i);
      if (user !== '') {
        out.push(text.slice(kept, i), '://…@');
        kept = i + user.length;
      }
      i += user.length || 1;
      continue;
    }
    if (found.length >= texts.minKey && (bearer || texts.keyPrefixes.some((prefix) => found.startsWith(prefix)))) {
      out.push(text.slice(kept, i), '…');
      kept = i + found.length;
      bearer = false;
    } else {
      bearer = found.toLowerCase() === 'bearer';
    }
    i += found.length;
  }
  return out.join('') + text.slice(kept);
}
