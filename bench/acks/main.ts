/*
  What acks cost, in real processes: the common job with acks off and on, in turn.

      npm run bench -- acks [--runs 5] [--warm-up 15] [--measure 20] [--only A,D] [--bolt count]
                            [--json]

  The ratio of D to A (and of E to C) is taken run by run, of runs that follow each other, and its
  median is what counts. `othersCpu` says how many processors other programs used meanwhile.
  `--json` prints a line for each case and one for each ratio, as bench/results keeps them.

  What the ledger itself takes is measured by `npm run bench -- ledger`.
*/

import { type AckCase, CASES, withoutAcks } from './cases.ts';
import { runInterleaved, type Spread, spread } from '../word-count/interleaved.ts';
import { type AckRun, runAckCase } from './run-case.ts';

const { results, asJson } = await runInterleaved(CASES, runAckCase, inWords);
const rows = [...results].map(([bench, runs]) => row(bench, runs));
if (asJson) for (const each of [...rows, ...ratios()]) console.log(JSON.stringify(each));
else {
  console.table([...results].map(([bench, runs]) => tableRow(bench, runs)));
  console.table(
    ratios().map(({ ratio, bolt, percent: { min, median, max } }) => ({
      ratio,
      bolt,
      percent: median.toFixed(0),
      range: `${min.toFixed(0)} to ${max.toFixed(0)}`,
    })),
  );
}

function inWords({ wordsPerSecond, othersCpu, extra }: AckRun): string {
  const acks =
    extra === undefined
      ? ''
      : `, ${Math.round(extra.ackedPerSecond)} acked/s, ${extra.failed} failed`;
  const complete =
    extra?.complete === undefined
      ? ''
      : `, complete ${extra.complete.p50Ms.toFixed(2)} / ${extra.complete.p99Ms.toFixed(2)} ms`;
  const others = `, others ${othersCpu.toFixed(2)} cpu`;
  return `${Math.round(wordsPerSecond)} words/s${acks}${complete}${others}`;
}

function row(bench: AckCase, runs: readonly AckRun[]): object {
  const last = runs.at(-1);
  const complete = runs.flatMap(({ extra }) => extra?.complete ?? []);
  return {
    case: bench.name,
    bolt: bench.bolt,
    acks: bench.hasAcks,
    isolation: 'process',
    wordsPerSecond: spread(runs.map((run) => Math.round(run.wordsPerSecond))),
    runs: runs.length,
    othersCpu: spread(runs.map((run) => run.othersCpu)).median,
    failed: runs.reduce((sum, { extra }) => sum + (extra?.failed ?? 0), 0),
    cpuSecondsPerMillionWords: spread(runs.map((run) => run.cpuSecondsPerMillionWords)),
    cpuByPart: medianByPart(runs),
    pssMb: last?.pssMb,
    ...(complete.length > 0 && {
      completeMs: {
        p50: spread(complete.map(({ p50Ms }) => p50Ms)),
        p99: spread(complete.map(({ p99Ms }) => p99Ms)),
      },
    }),
  };
}

function medianByPart(runs: readonly AckRun[]): Readonly<Record<string, number>> {
  const parts = Object.keys(runs[0]?.cpuByPart ?? {});
  return Object.fromEntries(
    parts.map((part) => [part, spread(runs.map(({ cpuByPart }) => cpuByPart[part] ?? 0)).median]),
  );
}

interface Ratio {
  readonly ratio: string;
  readonly bolt: string;
  readonly percent: Spread;
}

function ratios(): Ratio[] {
  return [...results].flatMap(([bench, runs]) => {
    const base = withoutAcks(bench);
    const bases = base === undefined ? undefined : results.get(base);
    if (base === undefined || bases === undefined) return [];
    const percents = runs.map(
      ({ wordsPerSecond }, n) => (100 * wordsPerSecond) / (bases[n]?.wordsPerSecond ?? Number.NaN),
    );
    return [{ ratio: `${bench.name}/${base.name}`, bolt: bench.bolt, percent: spread(percents) }];
  });
}

function tableRow(bench: AckCase, runs: readonly AckRun[]): object {
  const rate = spread(runs.map((run) => run.wordsPerSecond / 1e6));
  const complete = runs.flatMap(({ extra }) => extra?.complete ?? []);
  const parts = medianByPart(runs);
  const cpu = ['words', 'heron-stmgr', 'bolt'].map((part) => (parts[part] ?? 0).toFixed(2));
  const p50 = spread(complete.map(({ p50Ms }) => p50Ms)).median;
  const p99 = spread(complete.map(({ p99Ms }) => p99Ms)).median;
  return {
    case: bench.name,
    bolt: bench.bolt,
    acks: bench.hasAcks ? 'on' : 'off',
    'M words/s': rate.median.toFixed(3),
    range: `${rate.min.toFixed(3)} to ${rate.max.toFixed(3)}`,
    'others, cpu': spread(runs.map((run) => run.othersCpu)).median.toFixed(2),
    'cpu s per M: spout, stmgr, bolt': cpu.join(', '),
    'complete p50 / p99 ms': complete.length === 0 ? '' : `${p50.toFixed(2)} / ${p99.toFixed(2)}`,
  };
}
