/** A request that the gateway refused: its problem document (RFC 9457). */
export class Problem extends Error {
  override readonly name = 'Problem';

  constructor(
    /** The HTTP status: 401 sign in, 404 unknown, 409 answered, 410 expired, 422 one field is wrong. */
    readonly status: number,
    detail: string,
    /** The fields that are wrong, with what is wrong with them. */
    readonly fields: { location: string; message: string }[] = [],
    /** When it may be asked again, in milliseconds, where the gateway said so. */
    readonly retryAfter?: number,
  ) {
    super(detail);
  }

  /** Reads the problem out of an answer that is not one of success. */
  static async of(response: Response): Promise<Problem> {
    const text = await response.text().catch(() => '');
    const seconds = Number(response.headers.get('Retry-After'));
    const retryAfter = seconds > 0 ? seconds * 1000 : undefined;
    try {
      const doc = JSON.parse(text) as { detail?: string; title?: string; errors?: { location?: string; message?: string }[] };
      const fields = (doc.errors ?? []).map((e) => ({ location: e.location ?? '', message: e.message ?? '' }));
      return new Problem(response.status, doc.detail ?? doc.title ?? response.statusText, fields, retryAfter);
    } catch {
      return new Problem(response.status, response.statusText || `HTTP ${response.status}`, [], retryAfter);
    }
  }
}
