import type { Clock, Timer } from '../base/clock.ts';
import { type EngineError, environmentError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';
import { type Packet, REQUEST_ID_BYTES } from '../wire/frame.ts';
import type { RequestType } from '../wire/message-type.ts';

interface PendingRequest {
  readonly typeName: string;
  readonly responseTypeName: string;
  readonly timer: Timer;
  readonly resolve: (payload: Uint8Array) => void;
  readonly reject: (error: EngineError) => void;
}

/**
 * The requests of one connection that wait for their responses. Each ends exactly once: by its
 * response, by its time-out, or with the connection.
 */
export class PendingRequests {
  readonly #clock: Clock;
  readonly #random: Random;
  /** By request id, as latin1 text: a Map cannot compare bytes. */
  readonly #pending = new Map<string, PendingRequest>();

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  get size(): number {
    return this.#pending.size;
  }

  /** Registers a request and makes its id. */
  open<Q, R>(
    type: RequestType<Q, R>,
    timeoutMs: number,
  ): { readonly requestId: Uint8Array; readonly response: Promise<R> } {
    const requestId = this.#random.bytes(REQUEST_ID_BYTES);
    const key = keyOf(requestId, 0);
    const { typeName } = type.request;
    const response = new Promise<R>((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () => {
        this.#pending.delete(key);
        const message = `no answer to ${typeName} within ${timeoutMs} ms`;
        reject(environmentError('REQUEST_TIMEOUT', message, { retryable: true }));
      });
      const decode = (payload: Uint8Array): void => resolve(type.response.decode(payload));
      const { typeName: responseTypeName } = type.response;
      this.#pending.set(key, { typeName, responseTypeName, timer, resolve: decode, reject });
    });
    return { requestId, response };
  }

  /**
   * True when the packet carried the id of a pending request, which it then settles.
   *
   * @throws EngineError when the response is of another type or does not decode; the request then
   *   still waits, and fails with the connection.
   */
  settle(packet: Packet): boolean {
    if (this.#pending.size === 0) return false;
    const key = keyOf(packet.bytes, packet.requestIdStart);
    const request = this.#pending.get(key);
    if (request === undefined) return false;
    if (packet.typeName !== request.responseTypeName) {
      throw environmentError(
        'UNEXPECTED_MESSAGE',
        `${packet.typeName} came as the answer to ${request.typeName}`,
      );
    }
    request.resolve(packet.payload);
    this.#pending.delete(key);
    request.timer.cancel();
    return true;
  }

  failAll(errorOf: (typeName: string) => EngineError): void {
    const requests = [...this.#pending.values()];
    this.#pending.clear();
    for (const { timer, typeName, reject } of requests) {
      timer.cancel();
      reject(errorOf(typeName));
    }
  }
}

function keyOf(bytes: Uint8Array, start: number): string {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset + start, REQUEST_ID_BYTES);
  return view.toString('latin1');
}
