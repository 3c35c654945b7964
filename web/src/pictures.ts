import type { Part } from '@mulligan-run/client';
import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';

/** A picture in a message. */
export type Picture = NonNullable<Part['image']>;

/** The most pictures in a message, and their total size in characters of Base64: a request may have 8 MB. */
export const MAX_PICTURES = 8;
const MAX_TOGETHER = 6_000_000;

/** The longest side, in pixels, because models scale down larger ones themselves; files larger than the limit in bytes are also scaled down. */
const MAX_SIDE = 1568;
const MAX_BYTES = 1_000_000;

/** What every provider accepts and every browser shows. */
const shown = /^image\/(png|jpeg|gif|webp)$/;

/** A message's pictures, and what is wrong with them. */
export interface Taken { pictures: Picture[]; trouble: string }

/** Adds files to a message that already has some pictures. */
export async function take(files: File[], had: Picture[]): Promise<Taken> {
  const pictures = [...had];
  let trouble = '';
  for (const file of files) {
    if (pictures.length === MAX_PICTURES) {
      trouble = `A message has ${MAX_PICTURES} pictures at the most.`;
      break;
    }
    try {
      const picture = await pictureOf(file);
      if (pictures.reduce((sum, p) => sum + p.data.length, picture.data.length) > MAX_TOGETHER) {
        trouble = 'These pictures are too large for one message.';
        break;
      }
      pictures.push(picture);
    } catch {
      trouble = `${file.name || 'The file'} is not a picture that this browser can read: PNG, JPEG, GIF and WebP are.`;
    }
  }
  return { pictures, trouble };
}

/** Reads a file as a picture: unchanged, or scaled down. */
async function pictureOf(file: File): Promise<Picture> {
  const bitmap = await createImageBitmap(file);
  try {
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
    if (scale === 1 && file.size <= MAX_BYTES && shown.test(file.type)) {
      return { mediaType: file.type, data: await base64(file) };
    }
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    const to = canvas.getContext('2d');
    if (!to) {
      throw new Error('there is nothing to draw on');
    }
    to.fillStyle = '#fff'; // a JPEG has no transparency
    to.fillRect(0, 0, canvas.width, canvas.height);
    to.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const drawn = await new Promise<Blob | null>((resolve) => { canvas.toBlob(resolve, 'image/jpeg', 0.85); });
    if (!drawn) {
      throw new Error('it is too large to be drawn');
    }
    return { mediaType: 'image/jpeg', data: await base64(drawn) };
  } finally {
    bitmap.close();
  }
}

function base64(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('it cannot be read'));
    reader.readAsDataURL(blob);
  });
}

/** Shows a picture; one of an unknown kind is only named. */
export function picture(p: Picture, says: string): TemplateResult {
  return shown.test(p.mediaType) ? html`${guard([p], () => html`<img src="data:${p.mediaType};base64,${p.data}" alt=${says}>`)}` : html`[picture]`;
}

/** The pictures in the composer. */
export function attached(pictures: Picture[], remove: (i: number) => void): TemplateResult | typeof nothing {
  if (pictures.length === 0) {
    return nothing;
  }
  return html`
    <ul class="attached" aria-label="Pictures of this message">
      ${pictures.map((p, i) => html`
        <li>${picture(p, `Picture ${i + 1}`)}<button type="button" aria-label="Remove picture ${i + 1}" @click=${() => remove(i)}><span aria-hidden="true">×</span></button></li>`)}
    </ul>`;
}

/** The files that are pasted or dropped. */
export function filesOf(data: DataTransfer | null): File[] {
  return [...data?.files ?? []];
}
