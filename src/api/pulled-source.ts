import type { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';

/*
  Sources of other libraries as something that one item can be pulled from at a time.

  S1. Nothing is asked for before `next` is called: the source produces no more than its own buffer.
  S2. `close` makes the source let go of what it holds, also while a `next` is pending; it resolves
      when the source has. A generator cannot be ended while it waits for something: it has to heed
      the signal that it was opened with.
*/

export interface PulledSource<Item> {
  /** One call at a time. */
  next(): Promise<Pulled<Item>> | Pulled<Item>;
  close(): Promise<unknown>;
}

export type Pulled<Item> = IteratorResult<Item, unknown>;

/** Of an async iterable, or of a plain one, which costs no promises. */
export function pulledIterable<Item>(
  iterable: AsyncIterable<Item> | Iterable<Item>,
): PulledSource<Item> {
  const iterator: AsyncIterator<Item> | Iterator<Item> =
    Symbol.asyncIterator in iterable
      ? iterable[Symbol.asyncIterator]()
      : iterable[Symbol.iterator]();
  return {
    next: () => iterator.next(),
    close: async () => iterator.return?.(),
  };
}

export function pulledReadable<Chunk>(readable: Readable): PulledSource<Chunk> {
  const iterator = readable.iterator({ destroyOnReturn: true }) as AsyncIterator<Chunk>;
  return {
    next: () => iterator.next(),
    async close() {
      const closed = new Promise<void>((resolve) => {
        if (readable.closed) resolve();
        else readable.once('close', resolve);
      });
      readable.on('error', () => {}); // Nobody is interested any more.
      readable.destroy();
      await closed;
    },
  };
}

export function pulledStream<Chunk>(stream: ReadableStream<Chunk>): PulledSource<Chunk> {
  const reader = stream.getReader();
  return {
    next: () => reader.read(),
    close: () => reader.cancel(),
  };
}
