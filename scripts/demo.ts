/*
  npm run demo -- [file or folder ...]

  Counts the words of real text (by default every Markdown and licence file below node_modules) with
  a topology of real processes on this machine, and checks the result against a count of its own.
*/

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { textFilesBelow } from '../examples/text-files.ts';
import type { Completion } from '../src/model/completion.ts';
import { countWords, differences } from './demo-check.ts';
import { DemoProgress } from './demo-progress.ts';
import { root } from './tools.ts';

interface Status {
  readonly completion: Completion | null;
}

const TOP = 20;
const EXIT_INTERRUPTED = 130;
const LOOK_EVERY_MS = 250;
const BYTES_PER_MB = 1024 * 1024;

const places = process.argv.slice(2).map((place) => resolve(place));
if (places.length === 0) places.push(join(root, 'node_modules'));
const files = await findFiles();
const bytes = (await Promise.all(files.map((file) => stat(file)))).reduce(
  (n, { size }) => n + size,
  0,
);
const result = resolve('word-count-result.json');
const target = [`local/${userInfo().username}/demo`, 'word-count'];
const dataRoot = await mkdtemp(join(tmpdir(), 'heron-demo-'));
const stateRoot = join(dataRoot, 'repository', 'state', 'local');
let keepLogs = false;
let isSubmitOver = false;
const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // One Ctrl-C comes several times: from the terminal, and from the programs that started this one.
  process.on(signal, () => interruption.abort());
}

process.exitCode = await demo().catch((error: unknown) => {
  if (interruption.signal.aborted) return EXIT_INTERRUPTED;
  keepLogs = true;
  console.error(error instanceof Error ? error.message : error);
  console.error(`logs: ${dataRoot}`);
  return 1;
});
await command('kill', ...target).ended.catch(() => {}); // Nothing to kill after a completed run.
if (!keepLogs) await rm(dataRoot, { recursive: true });
if (interruption.signal.aborted) console.error('interrupted; nothing of it is left');

/** Where the words come from; says what is wrong with the arguments and ends. */
async function findFiles(): Promise<string[]> {
  try {
    const found = await textFilesBelow(places);
    if (found.length > 0) return found;
    console.error(`there are no text files (Markdown, .txt, licences) in ${places.join(', ')}`);
  } catch (error) {
    console.error(
      `cannot read the text: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  console.error('Next: npm run demo -- <file or folder> ...');
  process.exit(1);
}

async function demo(): Promise<number> {
  console.log(`counting the words of ${files.length} files, ${mb(bytes)} MB`);
  console.log(`logs while it runs: ${join(dataRoot, 'topologies')}`);
  const submittedAtMs = Date.now();
  const planned = join(stateRoot, 'pplans', 'word-count');
  const [startedAtMs] = await Promise.all([whenThere(planned), submit()]);
  console.log(
    `submitted; the first word could flow after ${seconds(submittedAtMs, startedAtMs)} s`,
  );
  const { result: outcome, completedAtMs, incidents } = await untilCompleted();
  if (outcome === 'completed') return report(Number(seconds(startedAtMs, completedAtMs)));
  keepLogs = true;
  console.error('the run lost tuples, so its counts cannot be right (at most once):');
  for (const { process: name, container, reason } of incidents) {
    console.error(`  ${name} in container ${container}: ${reason}`);
  }
  console.error(`logs: ${dataRoot}`);
  return 1;
}

async function submit(): Promise<void> {
  const [place = '', name = ''] = target;
  const topology = join(root, 'examples', 'word-count.ts');
  const often = ['--config-property', 'heron.metrics.export.interval.ms=500'];
  try {
    await heron('submit', ...often, place, topology, name, result, ...places);
  } finally {
    isSubmitOver = true;
  }
}

/** When a file came into being, by the wall clock; it may be gone again soon. */
async function whenThere(file: string): Promise<number> {
  for (;;) {
    const found = await stat(file).catch(() => undefined);
    if (found !== undefined) return found.mtimeMs;
    if (isSubmitOver) return Date.now(); // It failed, or all was over between two looks.
    await new Promise((tick) => setTimeout(tick, LOOK_EVERY_MS / 10));
  }
}

/** Compares and prints; the exit code. */
async function report(ranSeconds: number): Promise<number> {
  const counted = new Map(
    Object.entries(JSON.parse(await readFile(result, 'utf8')) as Record<string, number>),
  );
  const expected = await countWords(files);
  const wrong = differences(expected, counted);
  const words = [...counted.values()].reduce((sum, count) => sum + count, 0);
  console.log(`\nthe ${TOP} most frequent of ${counted.size} words:`);
  for (const [word, count] of [...counted].slice(0, TOP)) {
    console.log(`${String(count).padStart(9)}  ${word}`);
  }
  const rate = Math.round(words / ranSeconds).toLocaleString('en');
  console.log(
    `\n${words.toLocaleString('en')} words in ${ranSeconds.toFixed(1)} s: ${rate} tuples/s`,
  );
  console.log(`result: ${result}`);
  if (wrong.length === 0) {
    console.log('the counts equal those of a single process over the same files');
    return 0;
  }
  keepLogs = true;
  console.error(`the counts are wrong for ${wrong.length} words: ${wrong.slice(0, 5).join('; ')}`);
  console.error(`logs: ${dataRoot}`);
  return 1;
}

/** Shows the progress until the topology is gone; how it ended. */
async function untilCompleted(): Promise<Completion> {
  const progress = new DemoProgress(files.length, stateRoot);
  try {
    for (;;) {
      const status = JSON.parse(await heron('status', '--json', ...target)) as Status;
      if (status.completion !== null) return status.completion;
      await progress.show();
      await new Promise((tick) => setTimeout(tick, LOOK_EVERY_MS));
    }
  } finally {
    progress.end();
  }
}

/** Runs one command of the CLI, which is interrupted with us; what it wrote to standard output. */
async function heron(...args: readonly string[]): Promise<string> {
  interruption.signal.throwIfAborted();
  const { interrupt, ended } = command(...args);
  interruption.signal.addEventListener('abort', interrupt);
  try {
    return await ended;
  } finally {
    interruption.signal.removeEventListener('abort', interrupt);
  }
}

/** In a process group of its own: the terminal's Ctrl-C is for us, who pass it on or clean up. */
function command(...args: readonly string[]) {
  const child = spawn(process.execPath, [join(root, 'bin', 'heron.mjs'), ...args], {
    env: { ...process.env, HERON_DATA: dataRoot },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const closed = new Promise<number | null>((done) => child.on('close', done));
  const ended = Promise.all([closed, text(child.stdout), text(child.stderr)]);
  return {
    interrupt: () => child.kill('SIGINT'),
    ended: ended.then(([code, out, err]) => {
      if (code === 0) return out;
      throw new Error(`heron ${args[0]} ended with ${code}: ${err.trim() || out.trim()}`);
    }),
  };
}

function mb(count: number): string {
  return (count / BYTES_PER_MB).toFixed(1);
}

function seconds(fromMs: number, toMs: number): string {
  return ((toMs - fromMs) / 1000).toFixed(1);
}
