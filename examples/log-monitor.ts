/*
  Watches a log file while it grows, as `tail -f` does, and raises an alert for a service when it
  has logged its third error. The program ends when the file is removed and has been read to its
  end.

      heron run local/$USER/dev examples/log-monitor.ts log-monitor $PWD/alerts.txt $PWD/my.log

  Arguments: the file for the result, then the log file, whose lines are `<service> <level> <text>`.
*/

import { existsSync, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BasicBolt, fields, Spout, topology, type TopologyContext, type Tuple } from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

const CHUNK_BYTES = 64 * 1024;
const ERRORS_BEFORE_ALERT = 3;
const LINE_END = '\n'.charCodeAt(0);

class Tail extends Spout.of({ default: fields<{ line: string }>()('line') }) {
  readonly #path: string;
  #file: FileHandle | undefined;
  #watcher: FSWatcher | undefined;
  /** What has been read of a line that has not ended. */
  #rest = Buffer.alloc(0);

  constructor(path: string) {
    super();
    this.#path = path;
  }

  override async open(context: TopologyContext): Promise<void> {
    this.#file = await open(this.#path);
    // Of the folder: the file's removal should be seen as well.
    this.#watcher = watch(dirname(this.#path), () => context.wake());
  }

  override async close(): Promise<void> {
    this.#watcher?.close();
    await this.#file?.close();
  }

  override async nextTuple(): Promise<void> {
    // Asked before the end is read: whatever was written before the removal is read as well.
    const isRemoved = !existsSync(this.#path);
    const chunk = await this.#readChunk();
    if (chunk.length > 0) this.#emitLines(chunk);
    else if (isRemoved) this.endOfInput();
  }

  async #readChunk(): Promise<Buffer> {
    const buffer = Buffer.alloc(CHUNK_BYTES);
    const read = await this.#file?.read(buffer, 0, CHUNK_BYTES);
    return buffer.subarray(0, read?.bytesRead);
  }

  #emitLines(chunk: Buffer): void {
    const text = Buffer.concat([this.#rest, chunk]);
    const end = text.lastIndexOf(LINE_END) + 1;
    this.#rest = text.subarray(end);
    for (const line of text.toString('utf8', 0, end).split('\n')) {
      if (line !== '') this.emit({ line });
    }
  }
}

class Errors extends BasicBolt.of({
  default: fields<{ service: string; text: string }>()('service', 'text'),
}) {
  override execute(tuple: Tuple<{ line: string }>): void {
    const [service = '', level, ...text] = tuple.get('line').split(' ');
    if (level === 'ERROR') this.emit({ service, text: text.join(' ') });
  }
}

class Alerts extends BasicBolt.of({
  default: fields<{ service: string; text: string }>()('service', 'text'),
}) {
  readonly #errors = new Map<string, number>();

  override execute(tuple: Tuple<{ service: string; text: string }>): void {
    const service = tuple.get('service');
    const count = (this.#errors.get(service) ?? 0) + 1;
    this.#errors.set(service, count);
    if (count !== ERRORS_BEFORE_ALERT) return;
    console.log(`ALERT ${service}`);
    this.emit({ service, text: tuple.get('text') });
  }
}

export default topology('log-monitor', (builder, [result = 'alerts.txt', logFile = '']) => {
  const lines = builder.setSpout('tail', () => new Tail(logFile));
  const errors = builder.setBolt('errors', () => new Errors()).localOrShuffleGrouping(lines);
  const alerts = builder
    .setBolt('alerts', () => new Alerts(), { parallelism: 2 })
    .fieldsGrouping(errors, 'service');
  builder.setBolt('result', () => new SortedLines(result)).globalGrouping(alerts);
});
