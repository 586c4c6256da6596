import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { aCluster, ONE_CONTAINER, UNHURRIED } from '../../support/cluster.ts';

/* Records that nobody can process: each becomes a dead letter, and the next one is unharmed. */

const POISON = join(import.meta.dirname, 'fixtures/topologies/poison.ts');
/** One in a hundred. */
const LINES = 500;
const BAD_JSON = 50;
const BAD_UTF8 = 150;
const THROWS = 250;
const REJECTS = 350;
const ENDS_PROCESS = 450;
const POISONED = [BAD_JSON, BAD_UTF8, THROWS, REJECTS, ENDS_PROCESS];
const RETRIES = 2;

interface Listed {
  readonly component: string;
  readonly attempts: number;
  readonly reason: {
    readonly kind: string;
    readonly component: string | null;
    readonly message: string | null;
  };
}

function lineOf(n: number): Buffer {
  if (n === BAD_JSON) return Buffer.from(`{"n": ${n}\n`);
  if (n === BAD_UTF8) return Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]);
  return Buffer.from(`{"n": ${n}}\n`);
}

test('O38: poison becomes dead letters with their reasons, all else is processed', async (t) => {
  const cluster = await aCluster(t);
  const [input, processed] = ['input.jsonl', 'processed.txt'].map((file) =>
    join(cluster.folder, file),
  ) as [string, string];
  await writeFile(input, Buffer.concat(Array.from({ length: LINES }, (_, n) => lineOf(n))));
  const run = cluster.beginRun(POISON, 'poison', {
    args: [input, processed, THROWS, REJECTS, ENDS_PROCESS],
    config: {
      ...ONE_CONTAINER,
      ...UNHURRIED, // A time-out would be one of the attempts.
      'topology.reliability.mode': 'ATLEAST_ONCE',
      'topology.retry.limit': RETRIES,
      'topology.retry.backoff.ms': 20,
    },
  });
  const { code, stdout, stderr } = await run.end;
  assert.equal(code, 0, stdout + stderr);
  const { result, incidents } = await cluster.completion('poison');
  assert.equal(result, 'completed', JSON.stringify(incidents));
  const seen = new Set(readFileSync(processed, 'latin1').split('\n').filter(Boolean).map(Number));
  const good = Array.from({ length: LINES }, (_, n) => n).filter((n) => !POISONED.includes(n));
  assert.deepEqual(
    [...seen].toSorted((a, b) => a - b),
    good,
  );
  const list = await cluster.deadLetters('poison');
  assert.equal(list.code, 0, list.stdout + list.stderr);
  const { letters } = JSON.parse(list.stdout) as { readonly letters: readonly Listed[] };
  const told = letters.map(({ component, attempts, reason }) => ({
    component,
    attempts,
    kind: reason.kind,
    where: reason.component,
    message: reason.message,
  }));
  const thrown = { component: 'numbers', attempts: 1 + RETRIES, kind: 'thrown' };
  for (const expected of [
    { ...thrown, where: 'basic', message: 'a basic bolt throws' },
    { ...thrown, where: 'basic', message: 'a basic bolt rejects' },
  ]) {
    const found = told.filter(({ message }) => message === expected.message);
    assert.deepEqual(found, [expected], JSON.stringify(told));
  }
  // It may come again before its process is gone, and be lost with that: which is no retry.
  const [ending, ...others] = told.filter(({ where }) => where === 'plain');
  assert.deepEqual(others, []);
  assert.ok(ending !== undefined && ending.attempts >= 1 + RETRIES, JSON.stringify(told));
  assert.equal(ending.kind, 'thrown');
  assert.equal(ending.message, 'a bolt ends with its process');
  const unreadable = told.filter(({ kind }) => kind === 'unreadable');
  assert.equal(unreadable.length, 2, JSON.stringify(told));
  assert.match(unreadable.map(({ message }) => message).join('; '), /JSON/);
  assert.match(unreadable.map(({ message }) => message).join('; '), /UTF-8/);
  assert.equal(told.length, POISONED.length);
});
