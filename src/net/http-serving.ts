import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { messageOf } from '../base/errors.ts';
import {
  type HttpAnswer,
  type HttpServerOptions,
  type HttpStream,
  refusalOf,
  textAnswer,
} from './http-rules.ts';

/*
  The part of the HTTP server that needs `node:http`, which is loaded when somebody first asks.

  W1. Whatever arrives, the answer is a status and the process goes on: requests are bounded in size
      and time, and a handler that throws is a 500.
  W2. Browsers have no business here (R18): a request with an Origin, from another site, or for a
      host name that is not ours (DNS rebinding) is refused before its path is looked at.
*/

/** Whoever takes nothing of a stream for so long has gone away, or keeps a file open in vain. */
const STALLED_MS_MAX = 60_000;

/** A request is a few hundred bytes from a machine nearby; a second is already far too long. */
const REQUEST_TIMEOUT_MS = 10_000;

export interface HttpServing {
  /** Takes a connection that came before. It is paused. */
  adopt(socket: Socket): void;
  /** Stops listening and ends all connections. */
  close(): Promise<void>;
}

/** Serves what comes to a server that listens already, in its place. */
export function serveHttp(listening: Server, options: HttpServerOptions): Promise<HttpServing> {
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: REQUEST_TIMEOUT_MS,
    },
    (request, response) => void serve(request, response, options),
  );
  server.maxConnections = listening.maxConnections;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(listening, () => {
      server.off('error', reject);
      resolve({
        adopt(socket) {
          server.emit('connection', socket);
          socket.resume();
        },
        close: () =>
          new Promise((closed) => {
            server.close(() => closed());
            server.closeAllConnections();
          }),
      });
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
    if (request.socket.destroyed) return; // The client has gone away.
    logger.error(`an HTTP request failed: ${messageOf(error)}`, { path: request.url, error });
    send(response, textAnswer(500, 'Internal error'));
  }
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
    'Content-Length': body.length + (answer.stream?.bytes ?? 0),
    ...answer.headers,
    ...(answer.status === 413 ? { Connection: 'close' } : {}),
  };
  if (answer.reason === undefined) response.writeHead(answer.status, headers);
  else response.writeHead(answer.status, answer.reason, headers);
  if (answer.stream === undefined) response.end(body);
  else void sendStream(response, body, answer.stream);
}

async function sendStream(
  response: ServerResponse,
  body: Uint8Array,
  { bytes, content }: HttpStream,
): Promise<void> {
  response.setTimeout(STALLED_MS_MAX, () => response.destroy());
  if (body.length > 0) response.write(body);
  let sent = 0;
  content.on('data', (chunk: Uint8Array) => {
    sent += chunk.length;
  });
  try {
    await pipeline(content, response, { end: false });
  } catch {
    response.destroy(); // The reader has gone away, or the rest cannot be read.
    return;
  }
  if (sent === bytes) response.end();
  else response.destroy(); // Its length has been said: the reader sees that something is missing.
}
