import type { Clock, Timer } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';

/*
  One page for all who follow it. It is made anew at most once a period, while anybody waits for
  it, and sent when it is another one than before.

  F1. A reader is handed a page only when it asks for more, and then the newest: one that is slow
      misses pages, one that does not read at all costs nothing but the page that it was handed.
  F2. Nothing is made while nobody waits.
  F3. One that is not asked about for long is ended: a broken connection may never say so.
*/

/** Server-sent events, each a whole page. */
export interface PageFeedOptions {
  /** The page as JSON, on one line. */
  readonly write: () => Promise<string>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the last reader has gone. */
  readonly onIdle: () => void;
}

const PERIOD_MS = 1_000;
/** Less than proxies and browsers wait on a silent connection. */
const KEEP_ALIVE_MS = 15_000;
/** Four keep-alives that were never fetched. */
const STALLED_MS = 60_000;
const KEEP_ALIVE = ': still here\n\n';

interface Reader {
  /** The revision that it was handed last. */
  revision: number;
  /** Undefined while it does not ask. */
  wanted: ((chunk: Uint8Array) => void) | undefined;
  /** When it last asked, or was handed something. */
  heardAtMs: number;
  end(): void;
}

export class PageFeed {
  readonly #options: PageFeedOptions;
  readonly #readers = new Set<Reader>();
  readonly #encoder = new TextEncoder();
  #page: { readonly text: string; readonly revision: number } | undefined;
  #timer: Timer | undefined;
  #isWriting = false;
  #isClosed = false;

  constructor(options: PageFeedOptions) {
    this.#options = options;
  }

  get readers(): number {
    return this.#readers.size;
  }

  /** A stream of events that begins with the page as it is now. */
  follow(): ReadableStream<Uint8Array> {
    let reader: Reader;
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          reader = {
            revision: 0,
            wanted: undefined,
            heardAtMs: this.#options.clock.now(),
            end: () => controller.close(),
          };
          this.#readers.add(reader);
        },
        pull: (controller) =>
          new Promise<void>((resolve) => {
            reader.heardAtMs = this.#options.clock.now();
            reader.wanted = (chunk) => {
              reader.wanted = undefined;
              reader.heardAtMs = this.#options.clock.now();
              controller.enqueue(chunk);
              resolve();
            };
            this.#serve(reader);
            this.#begin();
          }),
        cancel: () => this.#leave(reader),
      },
      // Nothing is fetched before the connection has room for it.
      { highWaterMark: 0 },
    );
  }

  /** Ends all streams. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const reader of this.#readers) {
      reader.wanted = undefined;
      reader.end();
    }
    this.#readers.clear();
  }

  #leave(reader: Reader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#options.onIdle();
  }

  #begin(): void {
    if (this.#timer === undefined && !this.#isWriting && !this.#isClosed) void this.#turn();
  }

  async #turn(): Promise<void> {
    this.#isWriting = true;
    const { clock, logger, write } = this.#options;
    try {
      if ([...this.#readers].some(({ wanted }) => wanted !== undefined)) this.#take(await write());
    } catch (error) {
      // Also when the topology is gone: whoever follows its page is told by its own question.
      logger.debug('a page could not be made', { reason: messageOf(error) });
      this.#take(JSON.stringify({ error: { message: messageOf(error) } }));
    }
    this.#isWriting = false;
    if (this.#isClosed || this.#readers.size === 0) return;
    this.#dismissStalled();
    this.#timer = clock.after(PERIOD_MS, () => {
      this.#timer = undefined;
      void this.#turn();
    });
  }

  #take(text: string): void {
    if (text !== this.#page?.text) {
      this.#page = { text, revision: (this.#page?.revision ?? 0) + 1 };
    }
    for (const reader of this.#readers) this.#serve(reader);
  }

  #serve(reader: Reader): void {
    const { wanted } = reader;
    if (wanted === undefined) return;
    if (this.#page !== undefined && this.#page.revision > reader.revision) {
      const { text, revision } = this.#page;
      reader.revision = revision;
      wanted(this.#encoder.encode(`id: ${revision}\ndata: ${text}\n\n`));
    } else if (this.#options.clock.now() - reader.heardAtMs >= KEEP_ALIVE_MS) {
      wanted(this.#encoder.encode(KEEP_ALIVE));
    }
  }

  #dismissStalled(): void {
    const nowMs = this.#options.clock.now();
    for (const reader of this.#readers) {
      if (reader.wanted !== undefined || nowMs - reader.heardAtMs < STALLED_MS) continue;
      reader.end();
      this.#leave(reader);
    }
  }
}
