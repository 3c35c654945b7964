/**
 * @license
 * highlight.js, Copyright (c) 2006, Ivan Sagalaev. All rights reserved.
 * SPDX-License-Identifier: BSD-3-Clause
 */

/* A worker beside the page that finds the parts of code to colour, so that the page never waits, whatever the code is. */

import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import kotlin from 'highlight.js/lib/languages/kotlin';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import shell from 'highlight.js/lib/languages/shell';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

import { kinds, type Asked } from './stretches.js';

for (const [name, language] of Object.entries({
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, php, python, ruby, rust, shell, sql, typescript, xml, yaml,
})) {
  highlighter.registerLanguage(name, language);
}

self.onmessage = (e: MessageEvent<Asked>) => {
  const { language, text } = e.data;
  const known = highlighter.getLanguage(language);
  (self as unknown as Worker).postMessage(known ? stretches(highlighter.highlight(text, { language, ignoreIllegals: true }).value) : []);
};

/** Extracts where each kind begins and ends from marked HTML; nested parts have the inner kind. */
function stretches(html: string): number[] {
  const all: number[] = [];
  const open: number[] = [];
  let at = 0;
  for (const [token, name] of html.matchAll(/<span class="hljs-([\w-]+)[^"]*">|<\/span>|<[^>]*>|&[#\w]+;|[^<&]+/g)) {
    if (name !== undefined) {
      open.push(kinds.findIndex((names) => names.includes(name)));
    } else if (token === '</span>') {
      open.pop();
    } else if (token.startsWith('<')) {
      open.push(-1); // embedded code in another language
    } else {
      const length = token.startsWith('&') ? 1 : token.length;
      const kind = open.findLast((k) => k >= 0) ?? -1;
      if (kind >= 0) {
        all.push(at, at + length, kind);
      }
      at += length;
    }
  }
  return all;
}
