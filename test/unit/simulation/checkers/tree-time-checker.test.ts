import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import { TreeTimeChecker } from '../../../../src/simulation/checkers/tree-time-checker.ts';
import { backPressureSet } from '../../../../src/wire/back-pressure-notice.ts';
import { encodeFailDetail, failSet } from '../../../../src/wire/fail-detail.ts';
import { AckFold } from '../../../../src/wire/ack-fold.ts';
import { TUPLE_SET_2_TYPE, TUPLE_SET_TYPE } from '../../../../src/wire/tuple-set-format.ts';
import type { FailKind } from '../../../../src/model/fail-reason.ts';
import { aTuple, tupleSetBytes } from '../../../support/tuple-sets.ts';
import { ANY_FAULT, NO_FAULTS, packingOf } from './finished-run.ts';
import { ScriptedTraffic } from './scripted-traffic.ts';
import { TrackedRun } from './tracked-run.ts';

const KEY = [7, 9] as const;

/** A spout and its stream manager; trees have two seconds, and 3.2 by the bound. */
function aCase(config: Readonly<Record<string, string>> = {}) {
  const run = new TrackedRun(config);
  const task = run.source;
  const { instance, streamManager } = new Places(packingOf(run.workload)).of(task);
  const checker = new TreeTimeChecker(run.workload.plan);
  const traffic = new ScriptedTraffic(checker);
  const up = { connection: 1, from: instance, to: streamManager };
  const down = { connection: 1, from: streamManager, to: instance };
  const [low, high] = KEY;
  const roots = { count: 1, task: () => task, keyLow: () => low, keyHigh: () => high };
  return {
    traffic,
    emit: () =>
      traffic.packet(
        up,
        TUPLE_SET_TYPE,
        tupleSetBytes({
          task,
          component: 'source',
          tuples: [{ ...aTuple(1), roots: [{ task, key: (BigInt(high) << 32n) | BigInt(low) }] }],
        }),
      ),
    ack: () => {
      const fold = new AckFold();
      fold.add(task, low, high, 1, 1, 'ack');
      const bytes = new Uint8Array(fold.byteLengthMax);
      traffic.packet(down, TUPLE_SET_2_TYPE, bytes.subarray(0, fold.writeSet(bytes, 0, 1)));
    },
    fail: (kind: FailKind) => {
      const reason = { kind, component: undefined, task: undefined, error: undefined };
      traffic.packet(down, TUPLE_SET_2_TYPE, failSet(1, roots, encodeFailDetail(reason)));
    },
    hold: (isHeld: boolean) =>
      traffic.packet(
        down,
        TUPLE_SET_2_TYPE,
        backPressureSet(task, { isHeld, component: 'sink', streamManager }),
      ),
    look: (liveTrees: number) =>
      traffic.tell({
        kind: 'pressure',
        atMs: traffic.atMs,
        process: streamManager,
        pid: 1,
        view: { announced: [], holds: [], held: new Set() },
        liveTrees,
      }),
    problems: (takenDownFromMs: number, explanation = NO_FAULTS) =>
      checker.finish(run.finished({ takenDownFromMs, explanation })),
  };
}

test('a tree that is acked, or fails, in time is all right', () => {
  const { traffic, emit, ack, fail, problems } = aCase();
  emit();
  traffic.atMs = 3000;
  ack();
  emit();
  traffic.atMs = 5000;
  fail('time-out');
  assert.deepEqual(problems(60_000), []);
});

test('a time-out is not early, another failure may be', () => {
  for (const kind of ['time-out', 'explicit'] as const) {
    const { traffic, emit, fail, problems } = aCase();
    emit();
    traffic.atMs = 1999;
    fail(kind);
    const [problem] = problems(60_000, ANY_FAULT);
    if (kind === 'explicit') assert.equal(problem, undefined);
    else assert.match(problem ?? '', /timed out after 1999 ms/);
  }
});

test('a tree is not kept for longer, whatever becomes of it, unless something delays', () => {
  for (const end of ['time-out', 'ack', undefined] as const) {
    const { traffic, emit, ack, fail, problems } = aCase();
    traffic.atMs = 100;
    emit();
    traffic.atMs = 3900;
    if (end === 'ack') ack();
    else if (end !== undefined) fail(end);
    assert.match(problems(3900)[0] ?? '', /a tree of task \d+ was kept from 100 ms to 3900 ms/);
    assert.deepEqual(problems(3900, ANY_FAULT), []);
  }
});

test('the time in which its spout holds does not count', () => {
  const { traffic, emit, hold, fail, problems } = aCase();
  emit();
  traffic.atMs = 1000;
  hold(true);
  hold(true);
  traffic.atMs = 9000;
  hold(false);
  traffic.atMs = 11_500;
  fail('time-out');
  assert.deepEqual(problems(60_000), []);
  hold(true);
  emit();
  assert.deepEqual(problems(60_000), []);
});

test('a hold ends with its connection, and so do the trees', () => {
  const { traffic, emit, hold, problems } = aCase();
  emit();
  hold(true);
  traffic.atMs = 100;
  traffic.end(1);
  assert.deepEqual(problems(60_000), []);
  emit();
  assert.equal(problems(60_000).length, 1);
});

test('without time-outs any time will do', () => {
  const { emit, problems } = aCase({
    'topology.enable.message.timeouts': 'false',
    'topology.message.timeout.secs': '30',
  });
  emit();
  assert.deepEqual(problems(600_000), []);
});

test('a stream manager keeps no tree that is over', () => {
  const { emit, ack, look, problems } = aCase();
  emit();
  look(1);
  ack();
  look(0);
  assert.deepEqual(problems(0), []);
  look(1);
  assert.match(problems(0, ANY_FAULT)[0] ?? '', /kept 1 trees at 0 ms, 0 were not over/);
});

test('after the end of a connection nobody knows which are over', () => {
  const { traffic, emit, look, problems } = aCase();
  emit();
  traffic.end(1);
  look(1);
  assert.deepEqual(problems(0), []);
});
