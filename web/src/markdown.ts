import DOMPurify from 'dompurify';
import { Marked, Renderer, type TokenizerAndRendererExtension } from 'marked';

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
  if (node.tagName === 'PRE' || node.tagName === 'DIV' || node.className === 'formula display') {
    node.setAttribute('tabindex', '0'); // it scrolls, and not everybody has a mouse
  }
  if (node.hasAttribute('class') && !ours.has(node.className)) {
    node.removeAttribute('class');
  }
});

const blocks = new Set(['P', 'UL', 'OL', 'BLOCKQUOTE', 'TABLE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']);

/** What marks a list of tasks, what a table scrolls in, and what formulas are. */
const ours = new Set(['task', 'table', 'formula', 'formula display']);

const rules = {
  ALLOWED_TAGS: [
    'a', 'b', 'blockquote', 'br', 'code', 'del', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'img', 'kbd', 'li', 'ol', 'p', 'pre', 's',
    'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'src', 'alt', 'title', 'start', 'align', 'class'],
  ADD_URI_SAFE_ATTR: ['start', 'align'], // no addresses, so they are not held to the rule for those
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|data:image\/|#)/i,
};

/** HTML that Markdown has no sign for. Any other is shown as it was written. */
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

/** TeX, as models write it. A dollar that may be money begins or ends none; none is longer than this, so that looking for its end takes no time. */
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

/** A piece of Markdown that a model wrote, as HTML that is safe. Its time grows with the square of its length, or worse. */
export function safe(piece: string): string {
  return purifier.sanitize(marked.parse(piece, { async: false }), rules);
}
