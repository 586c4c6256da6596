import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { busySeconds, processesOf, type ProcessUse, raiseWeight } from './machine.ts';
import { firstWordMicros, wordsPerSecond } from './samples.ts';

const run = promisify(execFile);
const HERON = resolve(import.meta.dirname, '../../bin/heron.mjs');
const PLACE = 'local/bench/bench';
const FIRST_WORD_LIMIT_MS = 60_000;

/** What is submitted for a measurement. */
export interface Job {
  /** The file of the topology's module. */
  readonly module: string;
  /** For the module's build function; its bolts write their samples into the folder. */
  readonly args: (samplesFolder: string) => readonly string[];
  readonly config: Readonly<Record<string, string | number>>;
}

export interface Window {
  readonly warmUpSeconds: number;
  readonly measuredSeconds: number;
}

export interface JobRun<Extra> {
  readonly wordsPerSecond: number;
  /**
   * From the start of the submit command to the first sample with a word; samples are 0.25 s apart.
   */
  readonly submitToFirstWordSeconds: number;
  readonly cpuSecondsPerMillionWords: number;
  /** The same by what a process is in the topology: `words`, `bolt`, `heron-stmgr`. */
  readonly cpuByPart: Readonly<Record<string, number>>;
  /** Processors that others used meanwhile, of all of this machine. */
  readonly othersCpu: number;
  readonly pssMb: Readonly<Record<string, number>>;
  readonly extra: Extra;
}

/** What else a measurement wants of the samples between two moments of the monotonic clock. */
export type ReadExtra<Extra> = (samples: string, fromMicros: number, toMicros: number) => Extra;

/** Submits a job, measures one window, and kills it. */
export async function runJob<Extra>(
  job: Job,
  window: Window,
  readExtra: ReadExtra<Extra>,
): Promise<JobRun<Extra>> {
  const dataRoot = mkdtempSync(join(tmpdir(), 'heron-bench-'));
  const samples = mkdtempSync(join(tmpdir(), 'heron-bench-samples-'));
  const env = { ...process.env, HERON_DATA: dataRoot };
  try {
    const submittedAt = nowMicros();
    const config = Object.entries(job.config).flatMap(([key, value]) => [
      '--config-property',
      `${key}=${value}`,
    ]);
    const start = [...config, PLACE, job.module, 'bench', ...job.args(samples)];
    await run(process.execPath, [HERON, 'submit', ...start], { env });
    raiseWeight(processesOf(dataRoot).map(({ pid }) => pid));
    const firstWordAt = await firstWord(samples);
    const measured = await measure(window, dataRoot);
    return {
      ...figures(measured, samples),
      submitToFirstWordSeconds: (firstWordAt - submittedAt) / 1e6,
      extra: readExtra(samples, measured.before.at, measured.after.at),
    };
  } finally {
    await run(process.execPath, [HERON, 'kill', PLACE, 'bench'], { env });
    rmSync(samples, { recursive: true });
    rmSync(dataRoot, { recursive: true });
  }
}

interface Look {
  readonly at: number;
  readonly busy: number;
  readonly use: readonly ProcessUse[];
}

interface Measured {
  readonly before: Look;
  readonly after: Look;
}

async function measure(window: Window, dataRoot: string): Promise<Measured> {
  const look = (): Look => ({
    at: nowMicros(),
    busy: busySeconds(),
    use: processesOf(dataRoot),
  });
  await wait(window.warmUpSeconds * 1000);
  const before = look();
  await wait(window.measuredSeconds * 1000);
  const after = look();
  await wait(1000); // The sample behind the end of the window.
  return { before, after };
}

function figures({ before, after }: Measured, samples: string) {
  const seconds = (after.at - before.at) / 1e6;
  const rate = wordsPerSecond(samples, before.at, after.at);
  const millions = (rate * seconds) / 1e6;
  const used = cpuSecondsByPart(before.use, after.use);
  const ownCpu = Object.values(used).reduce((sum, cpuSeconds) => sum + cpuSeconds, 0);
  return {
    wordsPerSecond: rate,
    cpuSecondsPerMillionWords: ownCpu / millions,
    cpuByPart: Object.fromEntries(
      Object.entries(used).map(([part, cpuSeconds]) => [part, cpuSeconds / millions]),
    ),
    othersCpu: (after.busy - before.busy - ownCpu) / seconds,
    pssMb: pssByKind(after.use),
  };
}

async function firstWord(samples: string): Promise<number> {
  const deadline = nowMicros() + FIRST_WORD_LIMIT_MS * 1000;
  for (;;) {
    const at = readdirSync(samples).length > 0 ? firstWordMicros(samples) : undefined;
    if (at !== undefined) return at;
    if (nowMicros() > deadline) throw new Error('no word has been executed within a minute');
    await wait(50);
  }
}

function cpuSecondsByPart(
  before: readonly ProcessUse[],
  after: readonly ProcessUse[],
): Record<string, number> {
  const earlier = new Map(before.map(({ pid, cpuSeconds }) => [pid, cpuSeconds]));
  const sums: Record<string, number> = {};
  for (const { pid, part, cpuSeconds } of after) {
    sums[part] = (sums[part] ?? 0) + cpuSeconds - (earlier.get(pid) ?? 0);
  }
  return sums;
}

function pssByKind(use: readonly ProcessUse[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { kind, pssMb } of use) sums[kind] = (sums[kind] ?? 0) + Math.round(pssMb);
  return sums;
}

function nowMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
