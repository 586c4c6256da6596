import Table from 'cli-table3';
import type { Output } from './output.ts';

/** No lines between columns: the words are the table, also for `awk`. */
const NO_BORDER = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

export function textTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  output: Pick<Output, 'style'>,
): string {
  const table = new Table({
    head: head.map((title) => output.style('bold', title)),
    chars: NO_BORDER,
    // Its own colours go into pipes as well.
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  table.push(...rows.map((row) => [...row]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
