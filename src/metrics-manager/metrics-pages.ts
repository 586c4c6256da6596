import type { Clock, Timer } from '../base/clock.ts';
import { hasCode, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import {
  type HttpAnswer,
  type HttpServer,
  type ListenHttp,
  textAnswer,
} from '../net/http-rules.ts';

/*
  The pages of a metrics manager, for whoever reads metrics by HTTP. Read only, so no token is asked
  for.

  G1. A port that the settings fix may be in use by somebody else's program. That costs the pages,
      and is tried again; it is no reason to end the process and with it the other sinks. A port
      that the executor found is another matter: it finds others when this process says so.
*/

export interface MetricsPage {
  readonly contentType: string;
  readonly make: (query: URLSearchParams) => string;
}

export interface MetricsPagesOptions {
  readonly host: string;
  readonly port: number;
  /** The settings fix the port (G1). */
  readonly isPortFixed: boolean;
  readonly listenHttp: ListenHttp;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pages: ReadonlyMap<string, MetricsPage>;
  readonly onOpen: (port: number) => void;
}

const RETRY_PAUSE_MS = 10_000;
/** A port for each container, counted up from the one that is set, may come above it. */
const PORT_MAX = 65_535;
/** Nobody has anything to send. */
const BODY_BYTES_MAX = 1024;

export class MetricsPages {
  readonly #options: MetricsPagesOptions;
  #server: HttpServer | undefined;
  #retry: Timer | undefined;
  #isClosed = false;

  constructor(options: MetricsPagesOptions) {
    this.#options = options;
  }

  /** Undefined while the port is somebody else's. */
  get port(): number | undefined {
    return this.#server?.port;
  }

  /** @throws EngineError PORT_IN_USE, for a port that the settings do not fix. */
  async open(): Promise<void> {
    const { host, port, isPortFixed, listenHttp, logger } = this.#options;
    if (port > PORT_MAX) {
      logger.error(`there are no pages of metrics: ${port} is above all ports`);
      return;
    }
    try {
      const handle = this.#answer.bind(this);
      const options = { host, port, logger, handle, bodyBytesMax: BODY_BYTES_MAX };
      const server = await listenHttp(options);
      if (this.#isClosed) {
        await server.close();
        return;
      }
      this.#server = server;
      this.#options.onOpen(server.port);
    } catch (error) {
      if (!isPortFixed || !hasCode(error, 'PORT_IN_USE')) throw error;
      logger.error(`there are no pages of metrics: ${messageOf(error)}`);
      this.#retry = this.#options.clock.after(RETRY_PAUSE_MS, () => void this.#openAgain());
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#retry?.cancel();
    await this.#server?.close();
  }

  async #openAgain(): Promise<void> {
    await this.open();
    if (this.port !== undefined) {
      this.#options.logger.info('metrics can be read', { port: this.port });
    }
  }

  #answer({
    method,
    path,
    query,
  }: {
    method: string;
    path: string;
    query: URLSearchParams;
  }): HttpAnswer {
    const page = this.#options.pages.get(path);
    if (page === undefined) return textAnswer(404, 'Not Found');
    if (method !== 'GET' && method !== 'HEAD') return textAnswer(405, 'Method Not Allowed');
    return { status: 200, contentType: page.contentType, body: page.make(query) };
  }
}
