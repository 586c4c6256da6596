/*
  What the bookkeeping of a replayable spout costs for each message, from the source to its ack, and
  what it costs to read a line of a file. Left out: encoding, rings, sockets and the engine's acks.

  Run: node bench/replay.ts
*/
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileClaims } from '../src/api/file-claims.ts';
import { FilePositions } from '../src/api/file-positions.ts';
import { FileShare } from '../src/api/file-share.ts';
import { LineReader } from '../src/api/line-reader.ts';
import { LineSource } from '../src/api/line-source.ts';
import { type AnySource, MessageReplay, unreadableReason } from '../src/api/message-replay.ts';
import type { ReplayedMessage } from '../src/api/replayed-message.ts';
import { RetryPolicy } from '../src/api/retry-policy.ts';
import { systemSourceFiles } from '../src/api/source-files.ts';
import { systemClock } from '../src/base/clock.ts';
import { taskId } from '../src/base/ids.ts';
import { createSeededRandom } from '../src/base/random.ts';
import type { FailReason } from '../src/model/fail-reason.ts';

const MESSAGES = 1_000_000;
const LINES = 1_000_000;
const PENDING = 1_000;
const ROUNDS = 5;
const FAILED: FailReason = {
  kind: 'time-out',
  component: undefined,
  task: undefined,
  error: undefined,
};
const values = { word: 'word' };

/** Positions are numbers; `rereads`: the spout keeps no values. */
function aSource(rereads: boolean): AnySource {
  let position = 0;
  const read = { position, values };
  return {
    committed: () => undefined,
    open() {},
    next: () => {
      position += 1;
      return { position, values };
    },
    commit() {},
    ...(rereads && { reread: () => read }),
  };
}

/** `failsEvery`: the n-th, and each n-th after it, fails once. */
function replayNs(rereads: boolean, failsEvery: number): number {
  const pending: ReplayedMessage[] = [];
  let nowMs = 0;
  const replay = new MessageReplay({
    source: aSource(rereads),
    clock: { ...systemClock, now: () => nowMs, after: () => ({ cancel() {} }) },
    policy: new RetryPolicy({ limit: 5, backoffMs: 1, backoffMaxMs: 10 }, createSeededRandom(1)),
    committer: { request() {}, flush: async () => true, isClean: true },
    unsettledMax: 100_000,
    wake() {},
    emit: (_stream, _values, message) => void pending.push(message),
    deadLetter: async () => {},
    unreadable: (error) => unreadableReason(error, 'bench', 1),
    isRetryable: () => true,
    reportError() {},
    onRetry() {},
    onLostAtSource() {},
  });
  const startedAt = systemClock.now();
  for (let settled = 0; settled < MESSAGES; ) {
    for (let call = 0; call < PENDING; call += 1) {
      if (replay.step(true) instanceof Promise) throw new Error('this source knows at once');
    }
    for (const [index, message] of pending.entries()) {
      if (message.attempts === 1 && index % failsEvery === failsEvery - 1) {
        replay.failed(message, FAILED);
      } else {
        replay.acked(message);
        settled += 1;
      }
    }
    pending.length = 0;
    nowMs += 10;
  }
  return ((systemClock.now() - startedAt) * 1e6) / MESSAGES;
}

async function readerNs(path: string): Promise<number> {
  const startedAt = systemClock.now();
  const reader = new LineReader(await systemSourceFiles.open(path), 0, 1_000_000);
  let bytes = 0;
  do {
    while (reader.next()) bytes += reader.end - reader.start;
  } while (await reader.fill());
  await reader.close();
  if (bytes === 0) throw new Error('nothing was read');
  return ((systemClock.now() - startedAt) * 1e6) / LINES;
}

async function sourceNs(path: string): Promise<number> {
  const onWarning = (): void => {};
  const files = { ...systemSourceFiles, read: async () => undefined, replace: async () => {} };
  const positions = new FilePositions(files, '/nowhere', 'bench');
  const source = new LineSource({
    share: new FileShare({
      all: [path],
      assignment: () => ({ paths: [path], isCollective: false }),
      claims: new FileClaims({
        files,
        folder: '/nowhere',
        component: 'bench',
        task: taskId(1),
        topologyId: 'bench',
        nonce: 'bench',
        tasks: () => [taskId(1)],
        onWarning,
      }),
      positions,
      topologyId: 'bench',
      clock: systemClock,
      random: createSeededRandom(1),
      onWarning,
      onLeft() {},
    }),
    all: [path],
    files,
    positions,
    parse: (line) => [line],
    encoding: 'utf8',
    badUtf8: 'dead-letter',
    follow: false,
    pollMs: 100,
    lineBytesMax: 1_000_000,
    now: () => systemClock.now(),
    onWarning,
  });
  await source.committed();
  const startedAt = systemClock.now();
  for (;;) {
    const answer = source.next();
    const given = answer instanceof Promise ? await answer : answer;
    if (given === 'end') break;
  }
  await source.close();
  return ((systemClock.now() - startedAt) * 1e6) / LINES;
}

async function measure(name: string, round: () => number | Promise<number>): Promise<void> {
  const rounds: number[] = [];
  for (let count = 0; count < ROUNDS; count += 1) rounds.push(await round());
  const median = rounds.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`${name.padEnd(44)} ${median.toFixed(0).padStart(6)} ns`);
}

const folder = mkdtempSync(join(tmpdir(), 'heron-replay-'));
const path = join(folder, 'lines.txt');
writeFileSync(path, 'the quick brown fox jumps over the lazy dog\n'.repeat(LINES));
try {
  await measure('read, emit and settle, values are kept', () => replayNs(false, Infinity));
  await measure('read, emit and settle, values are reread', () => replayNs(true, Infinity));
  await measure('the same, every tenth fails once', () => replayNs(true, 10));
  await measure('find a line of 43 bytes', () => readerNs(path));
  await measure('read a line of 43 bytes as a message', () => sourceNs(path));
} finally {
  rmSync(folder, { recursive: true });
}
