import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packageRoot } from '../../src/base/entry.ts';
import { documentedMetrics, isDocumented } from '../support/documented-metrics.ts';

/*
  docs/metrics.md lists all names under which the engine publishes. Those of a run are held against
  it in test/cluster/metrics.test.ts; here are the names that the source has, also of what seldom
  happens.
*/

const root = packageRoot();

/** Quoted, and built of parts where there is a `${`. */
const QUOTED = /['`](__[a-z][^'`\s]*)['`]/g;
/** In place of what is only known in a run. */
const PART = 'PART';
/** Components of the engine, parts of other names, and what is no metric at all. */
const NO_METRICS = [
  /^__(?:stmgr|tmanager|metricsmgr|metricscachemgr|proto|auto)__/,
  /^__auto__/,
  /^__(?:system|tick|jvm|process|exceptions)$/,
  /^__client_|_to_stmgrs(?:_lost)?$/,
];

test('every name in the source is in docs/metrics.md', () => {
  const names = new Set<string>();
  for (const file of globSync('src/**/*.ts', { cwd: root })) {
    if (file.includes('/generated/')) continue;
    for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(QUOTED)) {
      if (NO_METRICS.some((pattern) => pattern.test(name))) continue;
      names.add(name.replaceAll(/\$\{[^}]*\}/g, PART));
    }
  }
  assert.ok(names.size > 80, `found ${names.size} names`);
  const documented = documentedMetrics();
  const missing = [...names].filter((name) => {
    // `__emit-count`, `__fail-reason/` and what has a part behind its name are how others begin.
    const isBeginning = !name.includes('/') || /\/(?:PART)?$/.test(name);
    const beginning = `${name.split('/')[0]}/`;
    return (
      !isDocumented(documented, name) &&
      !(isBeginning && documented.some(({ text }) => text.startsWith(beginning)))
    );
  });
  assert.deepEqual(missing, []);
});
