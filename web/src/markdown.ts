import DOMPurify from 'dompurify';
import { Marked, Renderer, type TokenizerAndRendererExtension } from 'marked';

const purifier = DOMPurify(window);

/** Only embedded pictures are shown: a request for any other would reveal that the message is read. */
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
    node.setAttribute('dir', 'auto'); // each has its own text direction
  }
  if (node.tagName === 'PRE' || node.tagName === 'DIV' || node.className === 'formula display') {
    node.setAttribute('tabindex', '0'); // it scrolls, and must be reachable by keyboard
  }
  if (node.hasAttribute('class') && !ours.has(node.className)) {
    node.removeAttribute('class');
  }
});

const blocks = new Set(['P', 'UL', 'OL', 'BLOCKQUOTE', 'TABLE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']);

/** Our classes: for task lists, for scrolling tables, and for formulas. */
const ours = new Set(['task', 'table', 'formula', 'formula display']);

const rules = {
  ALLOWED_TAGS: [
    'a', 'b', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'img', 'kbd', 'li', 'ol', 'p', 'pre', 's',
    'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'start', 'align', 'class'],
  ADD_URI_SAFE_ATTR: ['start', 'align'], // they hold no URLs, so the check for URLs does not apply
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/|#)/i,
};

/** HTML for which Markdown has no syntax. Any other is shown as written. */
const wanted = /^<(br\s*\/?|\/?(sub|sup|kbd))>$/i;

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}

const marked = new Marked({
  gfm: true,
  renderer: {
    html: ({ text }) => (wanted.test(text.trim()) ? text : escaped(text)),
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    listitem(item) {
      return item.task && `<li class="task">${this.parser.parse(item.tokens)}</li>\n`;
    },
    table(token) {
      return `<div class="table">${Renderer.prototype.table.call(this, token)}</div>`;
    },
  },
});

/** TeX as models write it. A dollar sign that may mean money does not begin or end a formula. The length limit bounds the search for the end. */
const inline = /^(?:\$(?![\s$])(?:\\.|[^\\$\n]){1,400}?(?<!\s)\$(?!\d)|\\\([^\n]{1,400}?\\\))/;
const display = /^(?:\$\$[^$]{1,2000}?\$\$|\\\[[\s\S]{1,2000}?\\\])/;

function formula(name: 'formula' | 'formula display', level: 'inline' | 'block', rule: RegExp): TokenizerAndRendererExtension {
  return {
    name, level,
    start: (src) => /\$|\\[([]/.exec(src)?.index,
    tokenizer(src) {
      const found = rule.exec(src);
      return found ? { type: name, raw: found[0] } : undefined;
    },
    renderer: ({ raw }) => `<code class="${name}">${escaped(raw)}</code>`,
  };
}

marked.use({ extensions: [formula('formula display', 'inline', display), formula('formula', 'inline', inline)] });

/** Converts a piece of a model's Markdown to safe HTML. Its time grows with the square of the length, or worse. */
export function safe(piece: string): string {
  return purifier.sanitize(marked.parse(piece, { async: false }), rules);
}
