import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/entry.ts';
import { inlineCodeOf, tableRowsOf } from './markdown.ts';

/** A name of docs/metrics.md, which may have places for others: `__emit-count/<stream>`. */
export interface DocumentedMetric {
  readonly text: string;
  readonly pattern: RegExp;
}

const SECTIONS: ReadonlySet<string> = new Set([
  'Spouts and bolts',
  'Every process',
  'Gateways of instances',
  'Stream managers',
  'Container 0 and metrics managers',
]);

/** What sinks for single numbers make of a histogram. */
const PERCENTILE = /\/(?:p50|p90|p99|p999|max)$/;

export function documentedMetrics(): readonly DocumentedMetric[] {
  const page = readFileSync(join(packageRoot(), 'docs/metrics.md'), 'utf8');
  return tableRowsOf(page)
    .filter(({ section }) => SECTIONS.has(section))
    .flatMap(({ cells }) => inlineCodeOf(cells[0] ?? ''))
    .map((text) => {
      const parts = text.split(/<[^>]*>/).map((part) => escaped(part));
      return { text, pattern: new RegExp(`^${parts.join('.+')}$`) };
    });
}

export function isDocumented(documented: readonly DocumentedMetric[], name: string): boolean {
  return documented.some(
    ({ pattern }) => pattern.test(name) || pattern.test(name.replace(PERCENTILE, '')),
  );
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
