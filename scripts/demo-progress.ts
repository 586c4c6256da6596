/* How far the demo is, asked from the topology master's statistics port. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryMetrics, TopologyMasterLocation } from '../src/wire/messages.ts';

const FILES_DONE = 'files-done';
const WORDS_SPLIT = '__emit-count/default';

export class DemoProgress {
  readonly #files: number;
  readonly #locationFile: string;
  readonly #startedAt = performance.now();
  #last = '';

  constructor(files: number, stateRoot: string) {
    this.#files = files;
    this.#locationFile = join(stateRoot, 'tmanagers', 'word-count');
  }

  /** A live line on a terminal, a plain line elsewhere; nothing while there is no news. */
  async show(): Promise<void> {
    const done = await this.#sum('lines', FILES_DONE);
    const words = await this.#sum('split', WORDS_SPLIT);
    if (done === undefined || words === undefined) return;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const rate = Math.round(words / seconds).toLocaleString('en');
    const counted = `${done} of ${this.#files} files, ${words.toLocaleString('en')} words`;
    const line = `${counted}, ${rate} words/s`;
    if (line === this.#last) return;
    this.#last = line;
    if (process.stdout.isTTY) process.stdout.write(`\r\u001b[K${line}`);
    else console.log(line);
  }

  end(): void {
    if (process.stdout.isTTY && this.#last !== '') process.stdout.write('\n');
  }

  /**
   * Of one metric over all tasks of a component since the start; undefined while nobody answers.
   */
  async #sum(component: string, metric: string): Promise<number | undefined> {
    try {
      const location = TopologyMasterLocation.decode(await readFile(this.#locationFile));
      const query = QueryMetrics.request.create({
        componentName: component,
        metric: [metric],
        interval: -1n,
      });
      const response = await fetch(`http://${location.host}:${location.statsPort}/stats`, {
        method: 'POST',
        body: Buffer.from(QueryMetrics.request.encode(query)),
      });
      const answer = QueryMetrics.response.decode(new Uint8Array(await response.arrayBuffer()));
      return answer.metric
        .flatMap((task) => task.metric)
        .reduce((sum, { value }) => sum + Number(value), 0);
    } catch {
      return undefined; // The topology starts or ends; the next look tells more.
    }
  }
}
