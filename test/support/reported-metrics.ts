import type { UserMetric } from '../../src/metrics/user-metric.ts';

/** What a metric has to report: `count 6`, or `key: mean 10/2`. */
export function reported(metric: UserMetric): string[] {
  const lines: string[] = [];
  const named = (text: string, key?: string): void => {
    lines.push(key === undefined ? text : `${key}: ${text}`);
  };
  metric.report({
    count: (amount, key) => named(`count ${amount}`, key),
    mean: (sum, count, key) => named(`mean ${sum}/${count}`, key),
    histogram: ({ count, max }, key) => named(`histogram ${count} up to ${max}`, key),
    value: (value, key) => named(`value ${value}`, key),
  });
  return lines;
}
