import type { z } from '@hono/zod-openapi';
import { refusal } from '../tracker-error.ts';

/** An action says what it wants in a few words. */
const BODY_BYTES_MAX = 64 * 1024;
const FORM = 'application/x-www-form-urlencoded';

/**
 * Reads the form or the JSON of a request; none at all is an empty one.
 *
 * @throws HTTPException 413, 415 or 422, with each member that is wrong.
 */
export async function readBody<Schema extends z.ZodObject>(
  request: Request,
  schema: Schema,
): Promise<z.output<Schema>> {
  const text = await boundedText(request);
  const read = schema.safeParse(membersOf(text, request.headers.get('content-type') ?? ''));
  if (read.success) return read.data;
  const wrong = read.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  throw refusal(422, wrong.join('; '));
}

async function boundedText(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of request.body ?? []) {
    byteCount += chunk.byteLength;
    if (byteCount > BODY_BYTES_MAX) {
      throw refusal(413, `a body may have ${BODY_BYTES_MAX} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function membersOf(text: string, contentType: string): unknown {
  if (text === '') return {};
  if (contentType.startsWith(FORM)) return formMembers(text);
  if (!contentType.startsWith('application/json')) {
    throw refusal(415, `a body is application/json or ${FORM}`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw refusal(422, 'the body is no JSON');
  }
}

/** What is there several times is a list. */
function formMembers(text: string): Record<string, string | string[]> {
  const form = new URLSearchParams(text);
  const names = new Set(form.keys());
  return Object.fromEntries(
    Array.from(names, (name) => {
      const [first = '', ...others] = form.getAll(name);
      return [name, others.length === 0 ? first : [first, ...others]];
    }),
  );
}
