/*
  npm test -- [--name <regular expression>] [<part of a path> ...]

  Runs the tests whose path holds one of the given parts, or all of them, in two phases with one
  report: first those that need nothing but a core, as many at once as there are cores, then the
  clusters of real processes, few at a time, so that none of them waits for another one's work.
*/

import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec, type TestEvent } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import { joinReports } from './test-report.ts';
import { root } from './tools.ts';

const CLUSTERS_AT_ONCE = 2;
/** Far above what any test or file needs: it only turns a hang into a failure that has a name. */
const TIMEOUT_MS =
  300_000 +
  1_000 * Number(process.env['HERON_CHAOS_SECONDS'] ?? 0) +
  // A kill of the chaos on a busy machine, and of a pair.
  20_000 * Number(process.env['HERON_CHAOS_KILLS'] ?? 0) +
  (process.env['HERON_ALL_PAIRS'] === '1' ? 3_600_000 : 0);

assert.ok(Number.parseInt(process.versions.node, 10) >= 24, `Node ${process.version} is too old`);

const { values, positionals } = parseArgs({
  options: { name: { type: 'string' } },
  allowPositionals: true,
});
const files = globSync('test/**/*.test.ts', { cwd: root })
  .filter((file) => positionals.length === 0 || positionals.some((part) => file.includes(part)))
  .toSorted();
assert.ok(files.length > 0, `no test file has ${positionals.join(' or ')} in its path`);

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => interruption.abort());
}

function runFiles(chosen: readonly string[], concurrency: number): AsyncIterable<TestEvent> {
  return run({
    cwd: root,
    files: [...chosen],
    concurrency,
    timeout: TIMEOUT_MS,
    signal: interruption.signal,
    ...(values.name === undefined ? {} : { testNamePatterns: new RegExp(values.name) }),
  });
}

/**
 * Node's own time-out ends a test, but not its file, which goes on while something is left open.
 * Ends the whole run when a file takes too long.
 */
async function* endHangs(events: AsyncIterable<TestEvent>): AsyncGenerator<TestEvent, void> {
  const limits = new Map<string, NodeJS.Timeout>();
  const onLimit = (file: string): void => {
    process.stderr.write(`${file} did not end within ${TIMEOUT_MS} ms: what did it leave open?\n`);
    interruption.abort();
  };
  for await (const event of events) {
    // A whole file is an event as well; its name is the path that was given.
    if (event.type === 'test:dequeue' && files.includes(event.data.name)) {
      const { name } = event.data;
      limits.set(name, setTimeout(onLimit, TIMEOUT_MS, name));
    }
    if (event.type === 'test:complete') clearTimeout(limits.get(event.data.name));
    yield event;
  }
}

const isCluster = (file: string): boolean => file.startsWith('test/cluster/');
const phases = [
  { chosen: files.filter((file) => !isCluster(file)), concurrency: availableParallelism() },
  { chosen: files.filter(isCluster), concurrency: CLUSTERS_AT_ONCE },
];
const runs = phases
  .filter(({ chosen }) => chosen.length > 0)
  .map(
    ({ chosen, concurrency }) =>
      () =>
        runFiles(chosen, concurrency),
  );
const report = joinReports(runs, (success) => {
  process.exitCode = success ? 0 : 1;
});
await pipeline(Readable.from(endHangs(report)), new spec(), process.stdout, { end: false });
