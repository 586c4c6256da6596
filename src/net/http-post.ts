import { environmentError } from '../base/errors.ts';
import { type Address, addressText, type ByteStream, type Network } from './network.ts';

/*
  One HTTP/1.1 POST over a connection of its own, of whose answer only the status matters. By hand,
  as this is all that is needed: Node's client costs each process that loads it 25 ms, and this one
  runs in the simulator too.

    POST <path> HTTP/1.1, headers, body →
    ← HTTP/1.1 <status> …               an interim 1xx is passed over; the rest is not waited for
*/

export interface PostRequest {
  readonly address: Address;
  /** With the query. */
  readonly path: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  /** Ends the request, which then rejects. */
  readonly signal: AbortSignal;
}

const STATUS_LINE = /^HTTP\/1\.[01] (\d{3})(?: [^\r\n]*)?\r\n/;
/** Beyond this there is no status line to come. */
const ANSWER_BYTES_MAX = 16 * 1024;

/**
 * The status of the answer.
 *
 * @throws EngineError as `Network.connect` does, and CONNECTION_LOST (retryable) when there is no
 *   answer that can be read before the connection ends or `signal` aborts.
 */
export async function postOver(network: Network, request: PostRequest): Promise<number> {
  const { address, signal } = request;
  const stream = await network.connect(address, signal);
  try {
    return await exchange(stream, request);
  } finally {
    stream.destroy();
  }
}

function exchange(stream: ByteStream, request: PostRequest): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const { address, signal, body } = request;
  const fail = (why: string): void => {
    const message = `${addressText(address)} ${why}`;
    reject(environmentError('CONNECTION_LOST', message, { retryable: true }));
  };
  let answer = '';
  stream.start({
    onData(chunk) {
      answer += chunk.toString('latin1');
      const status = statusOf(answer);
      if (status !== undefined) resolve(status);
      else if (answer.length > ANSWER_BYTES_MAX) fail('does not speak HTTP');
    },
    onClosed: () => fail('gave no answer'),
  });
  const onAbort = (): void => fail('took too long');
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  stream.write([headOf(request), body], () => {});
  return promise.finally(() => signal.removeEventListener('abort', onAbort));
}

function headOf({ address, path, contentType, body }: PostRequest): Uint8Array {
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: ${addressText(address)}`,
    `Content-Type: ${contentType}`,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Of the first answer that is none of the interim ones. */
function statusOf(answer: string): number | undefined {
  let rest = answer;
  for (;;) {
    const found = STATUS_LINE.exec(rest)?.[1];
    if (found === undefined) return undefined;
    const status = Number(found);
    if (status >= 200) return status;
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    rest = rest.slice(end + 4);
  }
}
