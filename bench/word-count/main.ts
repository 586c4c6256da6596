/*
  Words per second of this engine on the common job, in real processes.

      npm run bench -- word-count [--runs 5] [--warm-up 15] [--measure 20] [--only A] [--json]

  Cases are run in turn, so that what else the machine does hits all of them alike; figures are
  medians. `othersCpu` says how many processors other programs used meanwhile: a run with much of it
  says little.
*/

import { parseArgs } from 'node:util';
import { type BenchCase, CASES } from './cases.ts';
import { type CaseRun, runCase } from './run-case.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '15' },
    measure: { type: 'string', default: '20' },
    only: { type: 'string' },
    bolt: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

const cases = CASES.filter(
  ({ name, bolt }) =>
    (values.only === undefined || values.only.split(',').includes(name)) &&
    (values.bolt === undefined || values.bolt === bolt),
);
const window = {
  warmUpSeconds: Number(values['warm-up']),
  measuredSeconds: Number(values.measure),
};
const results = new Map<BenchCase, CaseRun[]>(cases.map((bench) => [bench, []]));
for (let run = 1; run <= Number(values.runs); run += 1) {
  for (const [bench, runs] of results) {
    const result = await runCase(bench, window);
    runs.push(result);
    const rate = Math.round(result.wordsPerSecond);
    const others = result.othersCpu.toFixed(2);
    console.error(`run ${run}: ${bench.name} ${bench.bolt}: ${rate} words/s, others ${others} cpu`);
  }
}
if (values.json) for (const [bench, runs] of results) console.log(JSON.stringify(row(bench, runs)));
else console.table([...results].map(([bench, runs]) => tableRow(bench, runs)));

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

function spread(numbers: readonly number[]): { min: number; median: number; max: number } {
  const sorted = numbers.toSorted((left, right) => left - right);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return { min: at(0), median: at(Math.floor(sorted.length / 2)), max: at(sorted.length - 1) };
}
