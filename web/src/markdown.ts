import DOMPurify from 'dompurify';
import { html, type TemplateResult } from 'lit';
import { unsafeHTML } from 'lit/directives/unsafe-html.js';
import { Marked, type Token } from 'marked';

const purifier = DOMPurify(window);

/** A picture may be shown only if it is here already: asking for it would tell somebody. */
purifier.addHook('uponSanitizeElement', (node, data) => {
  if (data.tagName === 'img' && node instanceof Element && !/^data:image\/(png|jpeg|gif|webp);/.test(node.getAttribute('src') ?? '')) {
    const alt = node.getAttribute('alt');
    node.replaceWith(alt ? `[picture: ${alt}]` : '[picture]');
  }
});

purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank');
    node.setAttribute('rel', 'noopener noreferrer nofollow');
  }
  if (blocks.has(node.tagName)) {
    node.setAttribute('dir', 'auto'); // each is read in the direction that it was written in
  }
  if (node.tagName === 'PRE') {
    node.setAttribute('tabindex', '0'); // it scrolls, and not everybody has a mouse
  }
});

const blocks = new Set(['P', 'UL', 'OL', 'BLOCKQUOTE', 'TABLE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']);

const rules = {
  ALLOWED_TAGS: [
    'a', 'b', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'img', 'kbd', 'li', 'ol', 'p', 'pre', 's',
    'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'start', 'align'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/|#)/i,
};

/** HTML that Markdown has no sign for. Any other is shown as it was written. */
const wanted = /^<(br\s*\/?|\/?(sub|sup|kbd))>$/i;

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => (wanted.test(text.trim()) ? text : text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)),
  },
});

/** Blocks that were rendered before: all of a streamed answer but its last block. */
const rendered = new Map<string, string>();
const MAX_RENDERED = 2000;

/** Markdown that a model wrote, made safe. */
export function markdown(text: string): TemplateResult[] {
  return marked.lexer(text).filter((token) => token.type !== 'space').map((token) => html`${unsafeHTML(block(token))}`);
}

function block(token: Token): string {
  const key = `${token.type} ${token.raw}`;
  let safe = rendered.get(key);
  if (safe === undefined) {
    safe = purifier.sanitize(marked.parser([token]), rules);
    if (rendered.size >= MAX_RENDERED) {
      rendered.clear();
    }
    rendered.set(key, safe);
  }
  return safe;
}
