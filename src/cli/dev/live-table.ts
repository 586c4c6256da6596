import type { Output } from '../output.ts';
import { textTable } from '../text-table.ts';
import type { ComponentMetrics } from './component-metrics.ts';

/*
  The table of components at the foot of a terminal, below the lines that scroll. Where there is no
  terminal, each new state of it is plain lines, and none when nothing has changed.
*/

const UP = (lines: number): string => `\u001B[${lines}A`;
const CLEAR_BELOW = '\r\u001B[J';

export class LiveTable {
  readonly #output: Output;
  #table: readonly string[] = [];
  #isShown = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Whole lines above the table. */
  write(text: string): void {
    if (this.#output.isJson) return;
    this.#hide();
    this.#output.write(text);
    this.#show();
  }

  update(components: readonly ComponentMetrics[]): void {
    const table = tableText(components, this.#output).split('\n');
    if (this.#output.isJson || table.join() === this.#table.join()) return;
    this.#hide();
    this.#table = table;
    this.#show();
    if (!this.#output.isTerminal) this.#output.write(`${table.join('\n')}\n`);
  }

  /** The last table stays as lines like others. */
  leave(): void {
    this.#isShown = false;
    this.#table = [];
  }

  #hide(): void {
    if (this.#isShown) this.#output.write(`${UP(this.#table.length)}${CLEAR_BELOW}`);
    this.#isShown = false;
  }

  #show(): void {
    if (!this.#output.isTerminal || this.#table.length === 0) return;
    this.#output.write(`${this.#table.join('\n')}\n`);
    this.#isShown = true;
  }
}

export function tableText(
  components: readonly ComponentMetrics[],
  output: Pick<Output, 'style'>,
): string {
  const head = ['COMPONENT', 'TASKS', 'EMITTED', 'EXECUTED', 'FAILED', 'LATENCY (MS)'];
  const rows = components.map(({ component, tasks, emitted, executed, failed, latencyMs }) => [
    component,
    `${tasks}`,
    `${emitted}`,
    `${executed}`,
    failed === 0 ? '0' : output.style('red', `${failed}`),
    latencyMs === undefined ? '' : latencyMs.toFixed(3),
  ]);
  return textTable(head, rows, output);
}
