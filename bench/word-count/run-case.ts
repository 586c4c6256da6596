import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { BenchCase } from './cases.ts';
import { busySeconds, processesOf, type ProcessUse, raiseWeight } from './machine.ts';
import { firstWordMicros, latency, type Latency, wordsPerSecond } from './samples.ts';

const run = promisify(execFile);
const HERON = resolve(import.meta.dirname, '../../bin/heron.mjs');
const JOB = resolve(import.meta.dirname, 'job.ts');
const PLACE = 'local/bench/bench';
const FIRST_WORD_LIMIT_MS = 60_000;

export interface CaseRun {
  readonly wordsPerSecond: number;
  readonly latency: Latency | undefined;
  /**
   * From the start of the submit command to the first sample with a word; samples are 0.25 s apart.
   */
  readonly submitToFirstWordSeconds: number;
  readonly cpuSecondsPerMillionWords: number;
  /** Processors that others used meanwhile, of all of this machine. */
  readonly othersCpu: number;
  readonly pssMb: Readonly<Record<string, number>>;
}

export interface Window {
  readonly warmUpSeconds: number;
  readonly measuredSeconds: number;
}

/** Submits the job, measures one window, and kills it. */
export async function runCase(bench: BenchCase, window: Window): Promise<CaseRun> {
  const dataRoot = mkdtempSync(join(tmpdir(), 'heron-bench-'));
  const samples = mkdtempSync(join(tmpdir(), 'heron-bench-samples-'));
  const env = { ...process.env, HERON_DATA: dataRoot };
  try {
    const submittedAt = nowMicros();
    const args = [bench.bolt, String(bench.tasks), String(bench.rate), samples];
    const config = ['--config-property', `topology.stmgrs=${bench.containers}`];
    await run(process.execPath, [HERON, 'submit', ...config, PLACE, JOB, 'bench', ...args], {
      env,
    });
    raiseWeight(processesOf(dataRoot).map(({ pid }) => pid));
    const firstWordAt = await firstWord(samples);
    return await measure({ bench, window, dataRoot, samples, submittedAt, firstWordAt });
  } finally {
    await run(process.execPath, [HERON, 'kill', PLACE, 'bench'], { env });
    rmSync(samples, { recursive: true });
    rmSync(dataRoot, { recursive: true });
  }
}

async function measure(facts: {
  readonly bench: BenchCase;
  readonly window: Window;
  readonly dataRoot: string;
  readonly samples: string;
  readonly submittedAt: number;
  readonly firstWordAt: number;
}): Promise<CaseRun> {
  const { bench, window, dataRoot, samples, submittedAt, firstWordAt } = facts;
  await wait(window.warmUpSeconds * 1000);
  const before = { at: nowMicros(), busy: busySeconds(), use: processesOf(dataRoot) };
  await wait(window.measuredSeconds * 1000);
  const after = { at: nowMicros(), busy: busySeconds(), use: processesOf(dataRoot) };
  await wait(1000); // The sample behind the end of the window.
  const seconds = (after.at - before.at) / 1e6;
  const ownCpu = allCpuSeconds(after.use) - allCpuSeconds(before.use);
  const rate = wordsPerSecond(samples, before.at, after.at);
  return {
    wordsPerSecond: rate,
    latency: bench.bolt === 'latency' ? latency(samples, before.at, after.at) : undefined,
    submitToFirstWordSeconds: (firstWordAt - submittedAt) / 1e6,
    cpuSecondsPerMillionWords: ownCpu / ((rate * seconds) / 1e6),
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

function allCpuSeconds(use: readonly ProcessUse[]): number {
  return use.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
}

function pssByKind(use: readonly ProcessUse[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { kind, pssMb } of use) sums[kind] = (sums[kind] ?? 0) + Math.round(pssMb);
  return sums;
}

function nowMicros(): number {
  return Number(process.hrtime.bigint() / 1000n);
}
