/*
  Sources that other libraries made: an async iterable, a stream of Node and a stream of the web.
  Each is read only while there is room for more, and is closed when its task ends, early or not.

      heron run local/$USER/dev examples/adapters.ts adapters $PWD/sizes.txt $PWD/README.md http://127.0.0.1:8080

  Arguments: the file for the result, a text file, and the address of a page.
*/

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { ReadableStream } from 'node:stream/web';
import {
  BasicBolt,
  fields,
  fromAsyncIterable,
  fromReadable,
  fromReadableStream,
  topology,
  type Tuple,
} from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

/** The text of a page, as it arrives. */
function textOf(page: string, signal: AbortSignal): ReadableStream<string> {
  const { readable, writable } = new TextDecoderStream();
  fetch(page, { signal })
    .then(({ body }) => body?.pipeTo(writable))
    .catch((error: unknown) => writable.abort(error));
  return readable;
}

/** Adds up what has come from each source: characters of text, or bytes. */
class Sizes extends BasicBolt.of({
  default: fields<{ source: string; size: number }>()('source', 'size'),
}) {
  readonly #sizes = new Map<string, number>();

  override execute(tuple: Tuple<{ value: string | Uint8Array }>): void {
    const source = tuple.sourceComponent;
    this.#sizes.set(source, (this.#sizes.get(source) ?? 0) + tuple.get('value').length);
  }

  override finish(): void {
    for (const [source, size] of this.#sizes) this.emit({ source, size });
  }
}

export default topology('adapters', (builder, [result = 'sizes.txt', file = '', page = '']) => {
  const lines = builder.setSpout(
    'lines',
    fromAsyncIterable<string>(() => createInterface({ input: createReadStream(file) })),
  );
  const bytes = builder.setSpout(
    'bytes',
    fromReadable(() => createReadStream(file)),
  );
  const text = builder.setSpout(
    'text',
    fromReadableStream(({ signal }) => textOf(page, signal)),
  );
  const sizes = builder
    .setBolt('sizes', () => new Sizes())
    .shuffleGrouping(lines)
    .shuffleGrouping(bytes)
    .shuffleGrouping(text);
  builder.setBolt('result', () => new SortedLines(result)).globalGrouping(sizes);
});
