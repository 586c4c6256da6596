import { environmentError } from '../base/errors.ts';
import { postOver } from '../net/http-post.ts';
import { addressText, type Network } from '../net/network.ts';
import type { MetricsDelivery } from './delivery-sink.ts';
import type { OtlpResource } from './otlp-message.ts';
import type { MetricsRecord } from './sink.ts';

export interface OtlpDeliveryOptions {
  readonly network: Network;
  /** `http://127.0.0.1:4318/v1/metrics`, or where it takes traces. */
  readonly endpoint: string;
  readonly resource: OtlpResource;
  /** What is posted: `otlpMessage`, or `otlpTraces`. */
  readonly message: (records: readonly MetricsRecord[], resource: OtlpResource) => string;
}

/** OTLP asks for another try after these, and for none after any other error. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const HTTP_PORT = 80;

/** Posts to a collector of OpenTelemetry: OTLP over HTTP, in JSON. */
export class OtlpDelivery implements MetricsDelivery {
  readonly #options: OtlpDeliveryOptions;

  constructor(options: OtlpDeliveryOptions) {
    this.#options = options;
  }

  async deliver(records: readonly MetricsRecord[], signal: AbortSignal): Promise<void> {
    const { network, endpoint, resource, message } = this.#options;
    const { hostname, port, pathname, search } = new URL(endpoint);
    const host = hostname.replaceAll(/^\[|\]$/g, '');
    const address = { host, port: port === '' ? HTTP_PORT : Number(port) };
    const status = await postOver(network, {
      address,
      path: `${pathname}${search}`,
      contentType: 'application/json',
      body: Buffer.from(message(records, resource)),
      signal,
    });
    if (status >= 200 && status < 300) return;
    const text = `the collector at ${addressText(address)} answers ${status}`;
    throw environmentError('CONNECTION_REFUSED', text, { retryable: RETRYABLE.has(status) });
  }
}
