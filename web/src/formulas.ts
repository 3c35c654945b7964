import DOMPurify from 'dompurify';

import { Asker } from './asker.js';

/** A formula, and whether it is on lines of its own. */
export interface Formula { tex: string; display: boolean }

/** How many formulas a page draws, and the longest MathML, in characters; others are shown as written. */
const MAX_FORMULAS = 500;
const MAX_MATHML = 40_000;

const asker = new Asker<Formula, string>('maths.js');
const purifier = DOMPurify(window);
let drawn = 0;

/** Draws the formulas in a message. */
export function drawFormulas(within: ParentNode): void {
  for (const code of within.querySelectorAll('code.formula:not([data-asked])')) {
    code.setAttribute('data-asked', '');
    if (drawn < MAX_FORMULAS) {
      drawn++;
      void draw(code);
    }
  }
}

async function draw(code: Element): Promise<void> {
  const display = code.classList.contains('display');
  const mathml = await asker.ask({ tex: (code.textContent ?? '').replace(/^(?:\$\$?|\\[[(])|(?:\$\$?|\\[\])])$/g, ''), display });
  if (mathml && mathml.length <= MAX_MATHML && code.isConnected) {
    // Neither styles nor classes nor links, because a model wrote the source.
    code.innerHTML = purifier.sanitize(mathml, { USE_PROFILES: { mathMl: true }, FORBID_ATTR: ['style', 'class', 'href'] });
    code.classList.add('drawn');
  } else {
    drawn--;
  }
}
