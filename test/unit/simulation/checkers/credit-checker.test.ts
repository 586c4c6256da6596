import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CreditChecker } from '../../../../src/simulation/checkers/credit-checker.ts';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import { TUPLE_SET_2_TYPE, TUPLE_SET_TYPE } from '../../../../src/wire/tuple-set-format.ts';
import { consumedBytesSet } from '../../../../src/wire/tuple-set-writer.ts';
import {
  grantedBytesMessage,
  TUPLE_STREAM_TYPE,
  writeStreamMessageHead,
  writeStreamMessageTail,
} from '../../../../src/wire/tuple-stream-message.ts';
import { aTuple, tupleSetBytes } from '../../../support/tuple-sets.ts';
import { aFinishedRun, ANY_FAULT, NO_FAULTS, packingOf } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';
import { ScriptedTraffic } from './scripted-traffic.ts';

/** A sink that gets sets of a source in another container. */
function aCase() {
  const { workload, source, sinks } = new HandWritten();
  const packing = packingOf(workload);
  const places = new Places(packing);
  const home = places.of(source).streamManager;
  const task = sinks.find((sink) => places.of(sink).streamManager !== home) ?? assert.fail();
  const { instance, streamManager } = places.of(task);
  const checker = new CreditChecker(packing);
  const traffic = new ScriptedTraffic(checker);
  const set = tupleSetBytes({ task: source, component: 'source', tuples: [aTuple(1)] });
  return {
    traffic,
    setBytes: set.length,
    arrive: () => {
      const bytes = new Uint8Array(64 + set.length);
      bytes.set(set, 32);
      const setEnd = 32 + set.length;
      const start = writeStreamMessageHead(bytes, 32, setEnd, task);
      const end = writeStreamMessageTail(bytes, setEnd, source, 1);
      const way = { connection: 2, from: home, to: streamManager };
      traffic.packet(way, TUPLE_STREAM_TYPE, bytes.subarray(start, end));
    },
    deliver: () =>
      traffic.packet({ connection: 1, from: streamManager, to: instance }, TUPLE_SET_2_TYPE, set),
    end: () =>
      traffic.packet(
        { connection: 1, from: streamManager, to: instance },
        TUPLE_SET_2_TYPE,
        tupleSetBytes({ task: source, endOfInput: true }),
      ),
    /** From a task in its own container: it may be the sink itself, for all the checker knows. */
    deliverLocal: (endOfInput: boolean) =>
      traffic.packet(
        { connection: 1, from: streamManager, to: instance },
        TUPLE_SET_2_TYPE,
        endOfInput
          ? tupleSetBytes({ task, endOfInput })
          : tupleSetBytes({ task, component: 'source', tuples: [aTuple(1)] }),
      ),
    consume: (bytes: number) =>
      traffic.packet(
        { connection: 1, from: instance, to: streamManager },
        TUPLE_SET_TYPE,
        consumedBytesSet(task, bytes),
      ),
    grant: (bytes: number) =>
      traffic.packet(
        { connection: 2, from: streamManager, to: home },
        TUPLE_STREAM_TYPE,
        grantedBytesMessage(task, bytes),
      ),
    problems: (explanation = NO_FAULTS) =>
      checker.finish(aFinishedRun(workload, { explanation, endedAtMs: traffic.atMs })),
    names: { streamManager, home, task },
  };
}

test('what is consumed is granted, in parts and in time', () => {
  const { traffic, deliver, end, consume, grant, setBytes, problems } = aCase();
  deliver();
  deliver();
  end(); // A marker costs nothing.
  consume(setBytes + 1);
  traffic.atMs = 2;
  grant(setBytes + 1);
  traffic.atMs = 20_000;
  consume(setBytes - 1);
  grant(setBytes - 1);
  traffic.atMs = 40_000;
  assert.deepEqual(problems(), []);
});

test('credit that never comes back is found, or comes late, unless a fault explains it', () => {
  const lost = aCase();
  lost.deliver();
  lost.consume(lost.setBytes);
  lost.traffic.atMs = 3000;
  const { streamManager, home, task } = lost.names;
  assert.deepEqual(lost.problems(), [
    `${streamManager} owed ${home} credit for task ${task} from 0 ms, still at 3000 ms`,
  ]);
  assert.deepEqual(lost.problems(ANY_FAULT), []);
  lost.grant(lost.setBytes);
  assert.equal(lost.problems().length, 1);
});

test('a part that is never granted is found too', () => {
  const { traffic, deliver, consume, grant, setBytes, problems } = aCase();
  deliver();
  consume(setBytes);
  grant(setBytes - 1);
  traffic.atMs = 3000;
  assert.equal(problems().length, 1);
});

test('for sets of its own container nobody owes anything, and markers have no bytes', () => {
  const { traffic, deliver, deliverLocal, consume, grant, setBytes, problems } = aCase();
  deliverLocal(true);
  deliverLocal(false);
  deliver();
  consume(setBytes);
  traffic.atMs = 5000;
  assert.deepEqual(problems(), []);
  consume(setBytes);
  grant(setBytes);
  traffic.atMs = 9000;
  assert.deepEqual(problems(), []);
});

test('what is not consumed is not owed', () => {
  const { traffic, deliver, problems } = aCase();
  deliver();
  traffic.atMs = 50_000;
  assert.deepEqual(problems(), []);
});

test('more credit than was consumed is found, where no connection has broken', () => {
  const { traffic, deliver, grant, setBytes, problems, names } = aCase();
  const { streamManager, home, task } = names;
  deliver();
  grant(setBytes);
  assert.deepEqual(problems(), [
    `${streamManager} granted ${home} ${setBytes} bytes too many for task ${task}`,
  ]);
  traffic.end(1); // What it had is granted at once, before the end of its connection is seen.
  assert.deepEqual(problems(), []);
});

test('a broken link owes nothing, whenever it is consumed; the next link does', () => {
  const { traffic, arrive, deliver, consume, grant, setBytes, problems } = aCase();
  arrive();
  arrive();
  deliver();
  deliver();
  consume(setBytes);
  grant(1);
  traffic.end(2);
  consume(setBytes);
  traffic.atMs = 9000;
  assert.deepEqual(problems(), []);
  arrive();
  deliver();
  consume(setBytes);
  traffic.atMs = 19_000;
  assert.equal(problems().length, 1);
});
