/** The parts of code: the highlighter's names for each kind that has its own colour, see `code.css`. */
export const kinds: string[][] = [
  ['keyword', 'selector-tag', 'literal', 'meta', 'doctag', 'template-tag'],
  ['string', 'regexp', 'addition', 'char', 'link', 'quote'],
  ['comment'],
  ['number', 'symbol', 'bullet', 'variable', 'template-variable', 'selector-attr', 'selector-pseudo'],
  ['title', 'section', 'name', 'selector-id', 'selector-class'],
  ['type', 'built_in', 'attr', 'attribute', 'property'],
  ['deletion'],
];

/** A question to the worker. Its answer: where each stretch begins, where it ends, and its kind, all in one list. */
export interface Asked { language: string; text: string }
