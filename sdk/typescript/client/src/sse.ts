/** One server-sent event. */
export interface ServerEvent {
  id: string;
  event: string;
  data: string;
}

/** More than this in one event is not ours, in characters. */
const MAX_EVENT = 64 << 20;

/**
 * Reads server-sent events out of a stream of bytes. `alive` is called at every piece that
 * arrives, comments included.
 */
export async function* serverEvents(body: ReadableStream<Uint8Array>, alive: () => void = () => {}): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let event = { id: '', event: 'message', data: '' };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return; // what has no blank line after it is not complete
      }
      alive();
      rest += decoder.decode(value, { stream: true });
      for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
        const line = rest.slice(0, end).replace(/\r$/, '');
        rest = rest.slice(end + 1);
        if (line === '') {
          if (event.data) {
            yield event;
          }
          event = { id: '', event: 'message', data: '' };
        } else {
          take(event, line);
        }
      }
      if (rest.length + event.data.length > MAX_EVENT) {
        throw new Error('the server sent an event without an end');
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function take(event: ServerEvent, line: string): void {
  const colon = line.indexOf(':');
  const field = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
  if (field === 'data') {
    event.data = event.data ? `${event.data}\n${value}` : value;
  } else if (field === 'id' || field === 'event') {
    event[field] = value;
  }
}
