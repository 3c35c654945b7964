/** A person's choices that this browser remembers. A browser that stores nothing has the defaults. */
export type Theme = 'system' | 'light' | 'dark';

export function theme(): Theme {
  const kept = read('theme');
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}

export function setTheme(theme: Theme): void {
  write('theme', theme === 'system' ? undefined : theme);
  applyTheme();
}

/** Applies the chosen theme. */
export function applyTheme(): void {
  const chosen = theme();
  if (chosen === 'system') {
    delete document.documentElement.dataset['theme'];
  } else {
    document.documentElement.dataset['theme'] = chosen;
  }
}

/** The auto-recover setting of new conversations, if it was to be remembered. */
export function rememberedAutoRecover(): boolean | undefined {
  const kept = read('autoRecover');
  return kept === undefined ? undefined : kept === 'true';
}

export function rememberAutoRecover(on: boolean | undefined): void {
  write('autoRecover', on === undefined ? undefined : String(on));
}

/** The model on this computer that new conversations use if no other can be asked. */
export function rememberedLocal(): string | undefined {
  return read('local');
}

export function rememberLocal(model: string): void {
  write('local', model);
}

function read(key: string): string | undefined {
  try {
    return localStorage.getItem(`mulligan.${key}`) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(key: string, value: string | undefined): void {
  try {
    if (value === undefined) {
      localStorage.removeItem(`mulligan.${key}`);
    } else {
      localStorage.setItem(`mulligan.${key}`, value);
    }
  } catch {
    // it lasts as long as the page
  }
}
