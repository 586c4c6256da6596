import { OpenAPIHono, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { refusal } from './tracker-error.ts';

/*
  Routes as the files in routes/ declare them: the path, the schema of its query, the schema of its
  answer and what gives it. The same declaration serves requests and the OpenAPI document.
*/

/** JSON that has been written already, for answers that are kept. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export interface QueryRoute<Query extends z.ZodObject, Answer extends z.ZodType> {
  readonly path: string;
  /** For the OpenAPI document. */
  readonly summary: string;
  /** Groups paths in the OpenAPI document. */
  readonly tag: string;
  /**
   * A member whose schema is an array takes every parameter of its name, another one the last.
   * Members are texts on arrival: use `z.coerce` for numbers.
   */
  readonly query: Query;
  readonly answer: Answer;
  /** `signal` aborts when the client has gone. */
  readonly respond: (
    query: z.output<Query>,
    signal: AbortSignal,
    request: Request,
  ) => z.input<Answer> | JsonText | Promise<z.input<Answer> | JsonText>;
}

/** A route whose answer is no JSON. */
export interface StreamRoute<Query extends z.ZodObject> {
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  readonly query: Query;
  readonly contentType: string;
  readonly respond: (
    query: z.output<Query>,
    signal: AbortSignal,
    request: Request,
  ) => Response | Promise<Response>;
}

const TEXT_OF_ERROR = z.string().openapi({ example: 'request failed: there is no topology …' });

export class TrackerApp {
  /** For what the methods below do not cover. */
  readonly hono = new OpenAPIHono();

  /** Adds a GET path that answers with JSON. */
  get<Query extends z.ZodObject, Answer extends z.ZodType>(route: QueryRoute<Query, Answer>): void {
    const { path, query, answer, respond } = route;
    this.#describe(route, { 'application/json': { schema: answer } });
    this.hono.get(path, async (context) => {
      const { raw } = context.req;
      const value = await respond(readQuery(query, context), raw.signal, raw);
      const text = value instanceof JsonText ? value.text : JSON.stringify(value);
      return context.body(text, 200, { 'Content-Type': 'application/json' });
    });
  }

  /** Adds a GET path that answers with something else. */
  stream<Query extends z.ZodObject>(route: StreamRoute<Query>): void {
    const { path, query, contentType, respond } = route;
    this.#describe(route, { [contentType]: { schema: z.string() } });
    this.hono.get(path, (context) => {
      const { raw } = context.req;
      return respond(readQuery(query, context), raw.signal, raw);
    });
  }

  #describe(
    {
      path,
      summary,
      tag,
      query,
    }: Pick<StreamRoute<z.ZodObject>, 'path' | 'summary' | 'tag' | 'query'>,
    content: Record<string, { schema: z.ZodType }>,
  ): void {
    const error = { content: { 'application/json': { schema: TEXT_OF_ERROR } } };
    this.hono.openAPIRegistry.registerPath({
      method: 'get',
      path,
      summary,
      tags: [tag],
      request: { query },
      responses: {
        200: { description: 'The answer.', content },
        400: { description: 'The parameters are wrong.', ...error },
        404: { description: 'There is no such thing.', ...error },
        default: { description: 'It failed; the text says why.', ...error },
      },
    });
  }
}

/** @throws HTTPException 400 that names each parameter that is wrong. */
function readQuery<Query extends z.ZodObject>(schema: Query, context: Context): z.output<Query> {
  const { searchParams } = new URL(context.req.url);
  const given: Record<string, string | string[]> = {};
  for (const [name, member] of Object.entries(schema.shape)) {
    const values = searchParams.getAll(name);
    const last = values.at(-1);
    if (isList(member as z.ZodType)) given[name] = values;
    else if (last !== undefined) given[name] = last;
  }
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const wrong = read.error.issues.map(({ path, message }) => {
    const name = path.join('.');
    return name in given ? `${name}: ${message}` : `the parameter ${name} is missing`;
  });
  throw refusal(400, wrong.join('; '));
}

function isList(schema: z.ZodType): boolean {
  if (schema instanceof z.ZodArray) return true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return isList(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodPipe && isList(schema.in as z.ZodType);
}
