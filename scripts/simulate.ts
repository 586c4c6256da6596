/*
  Runs whole topologies in the simulator: USAGE says how. The last line is
  `<count> passed, <count> failed`.
*/

import { type ChildProcess, fork } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/base/clock.ts';
import { messageOf, stackOf } from '../src/base/errors.ts';
import { parseFaultPlan } from '../src/simulation/faults/parse-faults.ts';
import {
  examineSeed,
  logText,
  type ScenarioRequest,
} from '../src/simulation/scenario/examine-seed.ts';
import { problemLines } from '../src/simulation/scenario/failure-report.ts';
import { runScenario } from '../src/simulation/scenario/run-scenario.ts';
import {
  type SearchOutcome,
  type SeedResult,
  searchSeeds,
  type SeedWorker,
} from '../src/simulation/scenario/seed-search.ts';
import type { WorkloadDescription } from '../src/simulation/workload/workload-description.ts';
import { root } from './tools.ts';

const USAGE = `npm run simulate -- --seeds <count> [--from <seed>] [--jobs <count>] [--mode <mode>]
                    [--changes]
npm run simulate -- --seed <seed> [--mode <mode>] [--changes] [--faults <json>] [--workload <json>]

Runs whole topologies in the simulator. The first form searches: many seeds, on all cores; each
seed that fails is made small and printed with the command that replays it. The second form runs
one seed and keeps its event log in a file; faults and workload replace those of the seed.

  --mode      at-most-once unless given, or at-least-once, with workloads of its own
  --changes   numbers of tasks and containers, and settings, change while the topology runs
`;

const LOG_FOLDER = join(root, '.cache', 'simulation');
/** Enough to make most plans minimal; a run takes about a third of a second. */
const SHRINK_RUNS_MAX = 120;
const REPEAT_EVERY = 50;
const SEEDS_PER_WORKER = 500;
/** Real time for one seed with its shrinking: far above what any takes. */
const SEED_LIMIT_MS = 300_000;
const PROGRESS_MS = 1_000;

const { values, problem } = readArguments();

if (values.worker === true) serve();
else process.exitCode = await main();

function readArguments() {
  try {
    return { ...parseArguments(), problem: undefined };
  } catch (error) {
    return { values: { from: '1', jobs: '1' } as Partial<Values>, problem: messageOf(error) };
  }
}

type Values = ReturnType<typeof parseArguments>['values'];

function parseArguments() {
  return parseArgs({
    options: {
      seeds: { type: 'string' },
      from: { type: 'string', default: '1' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      seed: { type: 'string' },
      faults: { type: 'string' },
      workload: { type: 'string' },
      mode: { type: 'string' },
      changes: { type: 'boolean', default: false },
      worker: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
}

async function main(): Promise<number> {
  if (values.help === true) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (problem !== undefined) {
    process.stderr.write(`${problem}\n\n${USAGE}`);
    return 64;
  }
  try {
    if (values.seed !== undefined) return await replay(numberOf('seed', values.seed));
    if (values.seeds === undefined) throw new Error('say --seeds <count> or --seed <seed>');
    return conclude(await search(numberOf('seeds', values.seeds)));
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return 64;
  }
}

function conclude({ passed, failed }: SearchOutcome): number {
  if (failed.length > 0) process.stdout.write(`failing seeds: ${failed.join(' ')}\n`);
  process.stdout.write(`${passed} passed, ${failed.length} failed\n`);
  return failed.length === 0 ? 0 : 1;
}

async function replay(seed: number): Promise<number> {
  const { faults, workload } = values;
  const request: ScenarioRequest = {
    seed,
    ...requestedKind(),
    ...(faults === undefined ? {} : { faults: parseFaultPlan(faults) }),
    ...(workload === undefined ? {} : { workload: JSON.parse(workload) as WorkloadDescription }),
  };
  const verdict = await runScenario({ ...request, keepsLog: true });
  const logFile = writeLog(seed, logText(verdict));
  const seconds = (verdict.simulatedMs / 1_000).toFixed(3);
  process.stdout.write(`workload: ${JSON.stringify(verdict.workload)}\n`);
  for (const fault of verdict.faults) process.stdout.write(`fault:    ${JSON.stringify(fault)}\n`);
  process.stdout.write(`outcome:  ${verdict.outcome} after ${seconds} simulated seconds, `);
  process.stdout.write(`${verdict.events} events, log hash ${verdict.logHash}\n`);
  process.stdout.write(`event log: ${logFile}\n`);
  for (const line of problemLines(verdict.problems)) process.stdout.write(`${line}\n`);
  return conclude(verdict.passed ? { passed: 1, failed: [] } : { passed: 0, failed: [seed] });
}

async function search(seeds: number): Promise<SearchOutcome> {
  const { from: first = '1', jobs = '1' } = values;
  const from = numberOf('from', first);
  const startMs = systemClock.now();
  let done = 0;
  let failed = 0;
  const showProgress = (): void => {
    const perSecond = done / ((systemClock.now() - startMs) / 1_000);
    const line = `${done} of ${seeds} seeds, ${failed} failed, ${perSecond.toFixed(1)} per second`;
    if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${line}`);
  };
  const progress = systemClock.every(PROGRESS_MS, showProgress);
  try {
    return await searchSeeds({
      from,
      seeds,
      jobs: numberOf('jobs', jobs),
      seedsPerWorker: SEEDS_PER_WORKER,
      limitMs: SEED_LIMIT_MS,
      startWorker,
      clock: systemClock,
      onResult({ passed, report }) {
        done += 1;
        if (passed) return;
        failed += 1;
        if (process.stderr.isTTY) process.stderr.write('\r\u001B[K');
        process.stdout.write(`${report}\n\n`);
      },
    });
  } finally {
    progress.cancel();
    showProgress();
    if (process.stderr.isTTY) process.stderr.write('\n');
  }
}

/** One in a process of its own: it may run out of memory, or never answer. */
function startWorker(): SeedWorker {
  const { mode, hasChanges = false } = requestedKind();
  const flags = [
    '--worker',
    ...(mode === undefined ? [] : ['--mode', mode]),
    ...(hasChanges ? ['--changes'] : []),
  ];
  const child = fork(import.meta.filename, flags, { serialization: 'advanced' });
  return {
    run: (seed) => answerOf(child, seed),
    end: () => void child.kill('SIGKILL'),
  };
}

function answerOf(child: ChildProcess, seed: number): Promise<SeedResult> {
  return new Promise((resolve, reject) => {
    const onMessage = (result: unknown): void => {
      child.off('exit', onExit).off('error', onError);
      resolve(result as SeedResult);
    };
    const onExit = (code: number | null, signal: string | null): void => {
      child.off('message', onMessage);
      reject(new Error(`its worker ended with ${signal ?? `code ${code}`}`));
    };
    const onError = (error: Error): void => {
      child.off('message', onMessage);
      reject(error);
    };
    child.once('message', onMessage).once('exit', onExit).once('error', onError);
    if (child.connected) child.send(seed);
  });
}

/** The life of a worker: a seed comes in, its result goes out. */
function serve(): void {
  process.on('message', (seed: number) => {
    void examineSeed(seed, {
      run: runScenario,
      ...requestedKind(),
      shrinkRunsMax: SHRINK_RUNS_MAX,
      repeatEvery: REPEAT_EVERY,
      writeLog,
    })
      .catch((error: unknown) => ({
        seed,
        passed: false,
        report: `seed ${seed} fails: the search itself went wrong: ${stackOf(error)}`,
      }))
      .then((result) => process.send?.(result));
  });
  process.on('disconnect', () => process.exit(0));
}

function writeLog(seed: number, log: string): string {
  mkdirSync(LOG_FOLDER, { recursive: true });
  const file = join(LOG_FOLDER, `seed-${seed}.log`);
  writeFileSync(file, log);
  return relative(root, file);
}

function requestedKind(): Pick<ScenarioRequest, 'mode' | 'hasChanges'> {
  const { mode, changes = false } = values;
  const kind = changes ? { hasChanges: true } : {};
  if (mode === undefined) return kind;
  if (mode === 'at-most-once' || mode === 'at-least-once') return { ...kind, mode };
  throw new Error(`--mode is at-most-once or at-least-once, not ${mode}`);
}

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(number)) {
    throw new Error(`--${name} is a whole number, not ${text}`);
  }
  return number;
}
