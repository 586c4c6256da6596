/*
  Words per second of this engine on the common job, in real processes.

      npm run bench -- word-count [--runs 5] [--warm-up 15] [--measure 20] [--only A] [--json]

  Cases are run in turn, so that what else the machine does hits all of them alike; figures are
  medians. `othersCpu` says how many processors other programs used meanwhile: a run with much of it
  says little.
*/

import { type BenchCase, CASES } from './cases.ts';
import { runInterleaved, spread } from './interleaved.ts';
import { type CaseRun, runCase } from './run-case.ts';

const { results, asJson } = await runInterleaved(CASES, runCase, inWords);
if (asJson) for (const [bench, runs] of results) console.log(JSON.stringify(row(bench, runs)));
else console.table([...results].map(([bench, runs]) => tableRow(bench, runs)));

function inWords({ wordsPerSecond, othersCpu }: CaseRun): string {
  return `${Math.round(wordsPerSecond)} words/s, others ${othersCpu.toFixed(2)} cpu`;
}

function row(bench: BenchCase, runs: readonly CaseRun[]): object {
  const last = runs.at(-1);
  return {
    case: bench.name,
    bolt: bench.bolt,
    isolation: 'process',
    wordsPerSecond: spread(runs.map((run) => Math.round(run.wordsPerSecond))),
    runs: runs.length,
    othersCpu: spread(runs.map((run) => run.othersCpu)).median,
    submitToFirstWordSeconds: spread(runs.map((run) => run.submitToFirstWordSeconds)),
    cpuSecondsPerMillionWords: spread(runs.map((run) => run.cpuSecondsPerMillionWords)),
    pssMb: last?.pssMb,
    ...(last?.extra === undefined
      ? {}
      : {
          emitToExecuteMs: {
            p50: spread(runs.map((run) => run.extra?.p50Ms ?? Number.NaN)),
            p99: spread(runs.map((run) => run.extra?.p99Ms ?? Number.NaN)),
          },
        }),
  };
}

function tableRow(bench: BenchCase, runs: readonly CaseRun[]): object {
  const rate = spread(runs.map((run) => run.wordsPerSecond / 1e6));
  const p50 = spread(runs.map((run) => run.extra?.p50Ms ?? Number.NaN)).median;
  const p99 = spread(runs.map((run) => run.extra?.p99Ms ?? Number.NaN)).median;
  return {
    case: bench.name,
    bolt: bench.bolt,
    'M words/s': rate.median.toFixed(3),
    range: `${rate.min.toFixed(3)} to ${rate.max.toFixed(3)}`,
    'others, cpu': spread(runs.map((run) => run.othersCpu)).median.toFixed(2),
    'cpu s per M': spread(runs.map((run) => run.cpuSecondsPerMillionWords)).median.toFixed(2),
    'first word, s': spread(runs.map((run) => run.submitToFirstWordSeconds)).median.toFixed(1),
    'p50 / p99 ms': Number.isNaN(p50) ? '' : `${p50.toFixed(2)} / ${p99.toFixed(2)}`,
  };
}
