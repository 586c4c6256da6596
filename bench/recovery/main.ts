/* How soon a topology goes on when parts of it die or change; USAGE says how it is measured. */

import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Spread, spread } from '../word-count/interleaved.ts';
import { CASES, type Figures, type RecoveryCase, TIMEOUT_SECONDS } from './cases.ts';
import { RunningJob } from './running-job.ts';

const USAGE = `npm run bench -- recovery [--runs 5] [--rate 2000] [--only killed]
                          [--config key=value] [--save]

Real processes of a topology with two containers, at least once, that passes words on at an even
pace. In each run its parts are killed and its size is changed, one after the other.

  detectedMs    from the kill to when the executor sees the death
  againMs       from then until words go that way again (instance, stream manager), or until all
                stream managers have registered (topology master)
  longestGapMs  longest time in which the sink got no word, from the kill or the beginning of the
                update to a second after it; 0 is less than 10
  commandMs     how long heron update took, to the end of the change
  timedOut      words that failed by time-out (${TIMEOUT_SECONDS} s here) during and after an update
  failed        all words that failed, which come again at least once

  --runs    how often; figures are medians, with the least and the most
  --rate    words per second
  --only    cases whose name holds this
  --config  a setting of the topology; may come several times
  --save    writes bench/results/recovery-<date>.json

A machine that does other things as well is slower: the average load stands beside the figures.
`;

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '5' },
    rate: { type: 'string', default: '2000' },
    only: { type: 'string', default: '' },
    config: { type: 'string', multiple: true, default: [] },
    save: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}

const config = {
  'topology.message.timeout.secs': TIMEOUT_SECONDS,
  ...Object.fromEntries(values.config.map((entry) => entry.split('=', 2) as [string, string])),
};
const wanted = CASES.filter(({ name }) => name.includes(values.only));
const results = new Map<RecoveryCase, Figures[]>(wanted.map((each) => [each, []]));
const loads: number[] = [];

for (let run = 1; run <= Number(values.runs); run += 1) {
  const job = await RunningJob.start(Number(values.rate), config);
  try {
    for (const [each, figures] of results) {
      await job.steady();
      const measured = await each.measure(job);
      figures.push(measured);
      loads.push(loadavg()[0] ?? Number.NaN);
      console.error(`run ${run}: ${each.name}: ${inWords(measured)}`);
    }
  } finally {
    await job.end();
  }
  await wait(1_000);
}

const rows = [...results].map(([each, figures]) => rowOf(each, figures));
console.table(rows.map(tableRow));
console.log(`average load ${inWords(spread(loads))}, of ${availableParallelism()} processors`);
if (values.save) save();

interface Row {
  readonly case: string;
  readonly aims: Figures;
  readonly runs: number;
  readonly figures: Readonly<Record<string, Spread>>;
}

function rowOf({ name, aims }: RecoveryCase, figures: readonly Figures[]): Row {
  const keys = Object.keys(figures[0] ?? {});
  const spreads = keys.map(
    (key) => [key, spread(figures.map((each) => round(each[key])))] as const,
  );
  return { case: name, aims, runs: figures.length, figures: Object.fromEntries(spreads) };
}

function tableRow({ case: name, aims, figures }: Row): object {
  const columns = Object.entries(figures).map(([key, { min, median, max }]) => [
    key,
    `${median} (${min} to ${max})${key in aims ? `, aim ${aims[key]}` : ''}`,
  ]);
  return { case: name, ...Object.fromEntries(columns) };
}

function inWords(figures: object): string {
  return Object.entries(figures)
    .map(([key, value]) => `${key} ${round(value as number)}`)
    .join(', ');
}

function round(value = Number.NaN): number {
  return Math.round(value * 10) / 10;
}

function save(): void {
  const date = new Date().toISOString().slice(0, 10);
  const file = join(import.meta.dirname, `../results/recovery-${date}.json`);
  const { platform, arch, versions } = process;
  const processors = `${availableParallelism()} processors`;
  const machine = `${processors}, ${platform} ${arch}, Node ${versions.node}`;
  const command = `npm run bench -- recovery ${process.argv.slice(2).join(' ')}`;
  const content = { date, machine, averageLoad: spread(loads.map(round)), command, rows };
  writeFileSync(file, `${JSON.stringify(content, null, 1)}\n`);
  console.log(`written: ${file}`);
}
