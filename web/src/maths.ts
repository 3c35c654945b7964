/**
 * @license
 * Temml, Copyright (c) 2020-2025 Ron Kok; KaTeX, Copyright (c) 2013-2020 Khan Academy and other contributors.
 * SPDX-License-Identifier: MIT
 */

/* A worker beside the page that converts TeX to MathML. */

import temml from 'temml';

import type { Formula } from './formulas.js';

self.onmessage = (e: MessageEvent<Formula>) => {
  let mathml = '';
  try {
    mathml = temml.renderToString(e.data.tex, { displayMode: e.data.display, throwOnError: true, trust: false, maxExpand: 200 })
      .replace(/ (?:style|class)="[^"]*"/g, ''); // the page's policy forbids styles
  } catch {
    // it is shown as written
  }
  (self as unknown as Worker).postMessage(mathml);
};
