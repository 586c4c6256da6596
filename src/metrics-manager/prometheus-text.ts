/*
  The text format of Prometheus, version 0.0.4:

    # HELP <family> <text>            backslashes and line feeds are escaped
    # TYPE <family> counter|gauge|histogram
    <name>{<label>="<value>",…} <number>      in label values quotes are escaped, too

  All lines of a family stand together. A sample's time is left out: it is that of the scrape.
*/

export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export type FamilyType = 'counter' | 'gauge' | 'histogram';

export type Label = readonly [name: string, value: string];

export function familyHead(name: string, type: FamilyType, help: string): string {
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
}

/** `{a="b",c="d"}`, or nothing without labels. */
export function labelText(labels: readonly Label[]): string {
  if (labels.length === 0) return '';
  return `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`;
}

export function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
