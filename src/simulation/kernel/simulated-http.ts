/*
  HTTP in a simulated world: one request on a connection of the simulated network, in the bytes of
  HTTP/1.1 with a Content-Length, so that the network's faults and taps apply to it. What stands in
  is the parser; the rules of who may ask are those of the real server.
*/

import { assert } from '../../base/assert.ts';
import { type EngineError, environmentError, messageOf } from '../../base/errors.ts';
import {
  type HttpAnswer,
  type HttpRequest,
  type HttpServerOptions,
  type ListenHttp,
  refusalOf,
  textAnswer,
} from '../../net/http-server.ts';
import { type Address, addressText, type ByteStream, type Network } from '../../net/network.ts';

const HEAD_END = '\r\n\r\n';
/** As much as Node's own server takes. */
const HEAD_BYTES_MAX = 16 * 1024;

/** What a command process asks. */
export interface SimulatedRequest {
  readonly method: string;
  /** With the query: `/activate?id=1`. */
  readonly path: string;
  /** Names in lower case; `host` and `content-length` are added. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface SimulatedAnswer {
  readonly status: number;
  readonly reason: string;
  readonly body: Buffer;
}

/** The HTTP servers of a thread, on its network. */
export function simulatedListenHttp(network: Network): ListenHttp {
  return async (options) => {
    const open = new Set<ByteStream>();
    const { host, port } = options;
    const listener = await network.listen({ host, port }, (stream) => {
      open.add(stream);
      serve(stream, options, () => open.delete(stream));
    });
    return {
      port: listener.address.port,
      close: () => {
        listener.close();
        for (const stream of open) stream.destroy();
        return Promise.resolve();
      },
    };
  };
}

/**
 * Asks an HTTP server of the simulated network.
 *
 * @throws EngineError as `Network.connect` does, and CONNECTION_LOST without a whole answer.
 */
export async function simulatedRequest(
  network: Network,
  address: Address,
  { method, path, headers = {}, body = '' }: SimulatedRequest,
  signal?: AbortSignal,
): Promise<SimulatedAnswer> {
  const stream = await network.connect(address, signal);
  const where = addressText(address);
  return new Promise((resolve, reject) => {
    const give = (error?: EngineError): void => {
      const message = `${where} gave no answer`;
      reject(error ?? environmentError('CONNECTION_LOST', message, { retryable: true }));
    };
    const onAbort = (): void => {
      give(environmentError('CONNECTION_CLOSED', `the request to ${where} was given up`));
      stream.destroy();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    read(stream, {
      bodyBytesMax: Number.POSITIVE_INFINITY,
      onMessage: (message) => {
        assert(message !== 'too large', 'answers have no limit');
        const [, status = '', ...reason] = message.firstLine.split(' ');
        resolve({ status: Number(status), reason: reason.join(' '), body: message.body });
        stream.destroy();
      },
      onClosed: (error) => {
        signal?.removeEventListener('abort', onAbort);
        give(error);
      },
    });
    const bytes = Buffer.from(body);
    const all = { host: where, ...headers, 'content-length': `${bytes.length}` };
    stream.write([head(`${method} ${path} HTTP/1.1`, all), bytes], () => {});
  });
}

function serve(stream: ByteStream, options: HttpServerOptions, onClosed: () => void): void {
  read(stream, {
    bodyBytesMax: options.bodyBytesMax,
    onMessage: (message) => void answerTo(message, options).then((answer) => send(stream, answer)),
    onClosed,
  });
}

async function answerTo(
  message: Message | 'too large',
  { host, handle, logger }: HttpServerOptions,
): Promise<HttpAnswer> {
  if (message === 'too large') return textAnswer(413, 'The body is too large');
  const { firstLine, headers, body } = message;
  const refusal = refusalOf(headers, host);
  if (refusal !== undefined) return textAnswer(403, refusal);
  const [method = 'GET', target = '/'] = firstLine.split(' ');
  const url = URL.parse(target, 'http://host');
  if (url === null) return textAnswer(400, 'The path cannot be read');
  const { pathname: path, searchParams: query } = url;
  try {
    return await handle({ method, path, query, headers, body });
  } catch (error) {
    logger.error(`an HTTP request failed: ${messageOf(error)}`, { path: target, error });
    return textAnswer(500, 'Internal error');
  }
}

function send(stream: ByteStream, { status, reason, contentType, body }: HttpAnswer): void {
  const bytes = Buffer.from(body);
  const headers = {
    'content-type': contentType ?? 'text/plain',
    'content-length': `${bytes.length}`,
  };
  stream.write([head(`HTTP/1.1 ${status} ${reason ?? ''}`, headers), bytes], () => {});
  stream.end();
}

function head(firstLine: string, headers: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from([firstLine, ...lines].join('\r\n') + HEAD_END, 'latin1');
}

interface Message {
  readonly firstLine: string;
  readonly headers: HttpRequest['headers'];
  readonly body: Buffer;
}

interface MessageReader {
  readonly bodyBytesMax: number;
  /** Called once, unless the stream ends before. */
  readonly onMessage: (message: Message | 'too large') => void;
  readonly onClosed: (error: EngineError | undefined) => void;
}

/** Reads the one message that comes on a stream. */
function read(stream: ByteStream, { bodyBytesMax, onMessage, onClosed }: MessageReader): void {
  let bytes = Buffer.alloc(0);
  let isDone = false;
  stream.start({
    onData: (chunk) => {
      if (isDone) return;
      bytes = Buffer.concat([bytes, chunk]);
      const message = parse(bytes, bodyBytesMax);
      if (message === undefined) return;
      isDone = true;
      onMessage(message);
    },
    onClosed,
  });
}

/** Undefined while it is not complete. */
function parse(bytes: Buffer, bodyBytesMax: number): Message | 'too large' | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return bytes.length > HEAD_BYTES_MAX ? 'too large' : undefined;
  const [firstLine = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyBytes = Number(headers['content-length'] ?? 0);
  if (bodyBytes > bodyBytesMax) return 'too large';
  const bodyStart = headEnd + HEAD_END.length;
  if (bytes.length < bodyStart + bodyBytes) return undefined;
  return { firstLine, headers, body: bytes.subarray(bodyStart, bodyStart + bodyBytes) };
}
