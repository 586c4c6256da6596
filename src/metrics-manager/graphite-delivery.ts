import { assert } from '../base/assert.ts';
import { environmentError } from '../base/errors.ts';
import { type Address, addressText, type ByteStream, type Network } from '../net/network.ts';
import type { MetricsDelivery } from './delivery-sink.ts';
import { percentilesOf } from './percentiles.ts';
import type { MetricsRecord } from './sink.ts';

/*
  Graphite's plaintext protocol: one line for each number, over a connection that stays.

    <prefix>.<topology>.<component>.<instance>.<metric> <number> <seconds since the epoch>\n

  Graphite answers nothing: what the operating system has taken counts as delivered.
*/

export interface GraphiteDeliveryOptions {
  readonly network: Network;
  readonly address: Address;
  readonly prefix: string;
  readonly topology: string;
}

interface Connection {
  readonly stream: ByteStream;
  /** Fails the delivery that is under way. */
  onLost: (() => void) | undefined;
}

export class GraphiteDelivery implements MetricsDelivery {
  readonly #options: GraphiteDeliveryOptions;
  #connection: Connection | undefined;

  constructor(options: GraphiteDeliveryOptions) {
    this.#options = options;
  }

  async deliver(records: readonly MetricsRecord[], signal: AbortSignal): Promise<void> {
    const { prefix, topology } = this.#options;
    const bytes = Buffer.from(records.map((record) => linesOf(record, prefix, topology)).join(''));
    if (bytes.length === 0) return;
    const connection = this.#connection ?? (await this.#connect(signal));
    await this.#write(connection, bytes, signal);
  }

  close(): void {
    this.#connection?.stream.destroy();
    this.#connection = undefined;
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    const stream = await this.#options.network.connect(this.#options.address, signal);
    const connection: Connection = { stream, onLost: undefined };
    stream.start({
      onData: () => {}, // Graphite has nothing to say.
      onClosed: () => {
        if (this.#connection === connection) this.#connection = undefined;
        connection.onLost?.();
      },
    });
    this.#connection = connection;
    return connection;
  }

  #write(connection: Connection, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
    assert(connection.onLost === undefined, 'one delivery at a time');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (): void => {
      const message = `Graphite at ${addressText(this.#options.address)} takes nothing`;
      reject(environmentError('CONNECTION_LOST', message, { retryable: true }));
      connection.stream.destroy();
    };
    connection.onLost = fail;
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
    connection.stream.write([bytes], resolve);
    return promise.finally(() => {
      connection.onLost = undefined;
      signal.removeEventListener('abort', fail);
    });
  }
}

function linesOf(record: MetricsRecord, prefix: string, topology: string): string {
  const { source, atMs, metrics, histograms } = record;
  const seconds = Math.floor(atMs / 1000);
  const path = [topology, source.component, source.instance].map(nodeOf).join('.');
  const before = prefix === '' ? path : `${prefix}.${path}`;
  let lines = '';
  for (const { name, value } of [...metrics, ...percentilesOf(histograms)]) {
    if (!Number.isFinite(Number(value)) || value === '') continue;
    lines += `${before}.${name.split('/').map(nodeOf).join('.')} ${value} ${seconds}\n`;
  }
  return lines;
}

/** A dot would begin a new node, a space would end the path. */
function nodeOf(text: string): string {
  return text.replaceAll(/[^\w-]/g, '_') || '_';
}
