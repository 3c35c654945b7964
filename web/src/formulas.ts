import DOMPurify from 'dompurify';

import { Asker } from './asker.js';

/** A formula, and whether it stands by itself. */
export interface Formula { tex: string; display: boolean }

/** So many formulas of a page are drawn, and none whose MathML is longer than this, in characters: others stay as they were written. */
const MAX_FORMULAS = 500;
const MAX_MATHML = 40_000;

const asker = new Asker<Formula, string>('maths.js');
const purifier = DOMPurify(window);
let drawn = 0;

/** Draws the formulas that stand in a message as they were written. */
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
    // Neither styles nor classes nor links: a model has written what this was made from.
    code.innerHTML = purifier.sanitize(mathml, { USE_PROFILES: { mathMl: true }, FORBID_ATTR: ['style', 'class', 'href'] });
    code.classList.add('drawn');
  } else {
    drawn--;
  }
}
