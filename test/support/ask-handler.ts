import type { HttpAnswer, HttpHandler } from '../../src/net/http-rules.ts';

export interface SeenAnswer extends HttpAnswer {
  readonly bytes: Buffer;
}

/** Asks a handler as the HTTP server does. */
export function askHandler(handle: HttpHandler) {
  return async (path: string, body: Uint8Array = Buffer.alloc(0)): Promise<SeenAnswer> => {
    const query = new URLSearchParams();
    const request = { method: 'POST', path, query, headers: {}, body: Buffer.from(body) };
    const answer = await handle(request);
    return { ...answer, bytes: Buffer.from(answer.body) };
  };
}
