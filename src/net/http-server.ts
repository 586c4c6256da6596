import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { assert } from '../base/assert.ts';
import { environmentError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';

/*
  A small HTTP server for the master's two ports. On `node:http` alone: each engine process pays
  for its imports at every start, and Heron's clients read the reason phrase of the status line,
  which frameworks on the fetch interfaces do not let through.

  W1. Whatever arrives, the answer is a status and the process goes on: requests are bounded in size
      and time, and a handler that throws is a 500.
  W2. Browsers have no business here (R18): a request with an Origin, from another site, or for a
      host name that is not ours (DNS rebinding) is refused before its path is looked at.
*/

export interface HttpRequest {
  readonly method: string;
  /** Decoded, without the query: `/activate`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

export interface HttpAnswer {
  readonly status: number;
  /** For the status line; printable ASCII. */
  readonly reason?: string;
  readonly contentType?: string;
  readonly body: string | Uint8Array;
}

export type HttpHandler = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;

export interface HttpServerOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly bodyBytesMax: number;
  readonly handle: HttpHandler;
  readonly logger: Logger;
}

export interface HttpServer {
  readonly port: number;
  /** Ends all connections. Idempotent. */
  close(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @throws EngineError PORT_IN_USE when the port is taken.
 */
export type ListenHttp = (options: HttpServerOptions) => Promise<HttpServer>;

/** A request is a few hundred bytes from a machine nearby; a second is already far too long. */
const REQUEST_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 128;

export function listenHttp(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port } = options;
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => void serve(request, response, options),
  );
  server.maxConnections = CONNECTIONS_MAX;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === 'EADDRINUSE';
      const message = `cannot listen on ${host}:${port}: ${cause.message}`;
      reject(environmentError(isTaken ? 'PORT_IN_USE' : 'CONNECTION_LOST', message, { cause }));
    });
    server.listen(port, host, () => {
      const address = server.address();
      assert(typeof address === 'object' && address !== null, 'a TCP server has an address');
      resolve({ port: address.port, close });
    });
  });
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { host, bodyBytesMax, handle, logger }: HttpServerOptions,
): Promise<void> {
  try {
    const refusal = refusalOf(request.headers, host);
    if (refusal !== undefined) return send(response, textAnswer(403, refusal));
    const body = await readBody(request, bodyBytesMax);
    if (body === undefined) return send(response, textAnswer(413, 'The body is too large'));
    const url = parseUrl(request.url);
    if (url === undefined) return send(response, textAnswer(400, 'The path cannot be read'));
    const { pathname: path, searchParams: query } = url;
    const { method = 'GET', headers } = request;
    send(response, await handle({ method, path, query, headers, body }));
  } catch (error) {
    if (response.destroyed || request.destroyed) return; // The client has gone away.
    logger.error(`an HTTP request failed: ${messageOf(error)}`, { path: request.url, error });
    send(response, textAnswer(500, 'Internal error'));
  }
}

/** An answer whose status line says the same as its body, as Heron's clients expect of errors. */
export function textAnswer(status: number, text: string): HttpAnswer {
  return { status, reason: text, contentType: 'text/plain', body: text };
}

/** Why a request is refused whatever it asks for (W2), or undefined. */
export function refusalOf(headers: HttpRequest['headers'], ownHost: string): string | undefined {
  const site = headers['sec-fetch-site'];
  const isFromElsewhere = site !== undefined && site !== 'none' && site !== 'same-origin';
  if (headers['origin'] !== undefined || isFromElsewhere) return 'Cross-site requests are refused';
  const name = hostNameOf(headers['host']);
  const isOurs =
    name !== undefined && (isIpLiteral(name) || name === 'localhost' || name === ownHost);
  return isOurs ? undefined : 'The Host header names another host';
}

/** `[::1]:80` → `[::1]`, `localhost:80` → `localhost`. */
function hostNameOf(host: string | readonly string[] | undefined): string | undefined {
  if (typeof host !== 'string') return undefined;
  return /^(\[[^\]]+\]|[^:[\]]+)(?::\d+)?$/.exec(host)?.[1];
}

/** No domain name looks like this, so nobody can point one of his at us. */
function isIpLiteral(name: string): boolean {
  return name.startsWith('[') || /^[\d.]+$/.test(name);
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes);
}

function parseUrl(url: string | undefined): URL | undefined {
  return URL.parse(url ?? '/', 'http://host') ?? undefined;
}

function send(response: ServerResponse, answer: HttpAnswer): void {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  const headers = {
    'Content-Type': answer.contentType ?? 'text/plain',
    'Content-Length': body.length,
    ...(answer.status === 413 ? { Connection: 'close' } : {}),
  };
  if (answer.reason === undefined) response.writeHead(answer.status, headers);
  else response.writeHead(answer.status, answer.reason, headers);
  response.end(body);
}
