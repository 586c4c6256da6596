import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tuple, TupleOrigin } from '../../../../src/api/tuple.ts';
import { componentName, streamName, taskId } from '../../../../src/base/ids.ts';
import { CallsUnderWay } from '../../../../src/simulation/workload/calls-under-way.ts';
import { Ledger } from '../../../../src/simulation/workload/ledger.ts';
import {
  type BoltDescription,
  WORKLOAD_FIELDS,
} from '../../../../src/simulation/workload/workload-description.ts';
import { aBoltPlan } from './small-workloads.ts';

const BY_FIRST = { kind: 'fields', fields: ['first'] } as const;

function aBolt(concurrency?: BoltDescription['concurrency']) {
  const ledger = new Ledger();
  const life = ledger.open(taskId(1), 'source', 0);
  const origin = new TupleOrigin(componentName('source'), streamName('default'), WORKLOAD_FIELDS);
  const plan = aBoltPlan(concurrency && { concurrency }, BY_FIRST);
  const aTuple = (key: number): Tuple =>
    new Tuple(origin, taskId(1), [ledger.emit(life, 'default', key, 0), key, 0, new Uint8Array()]);
  return { ledger, calls: new CallsUnderWay(plan, ledger), aTuple };
}

test('U1: no more are pending than the bolt allows', () => {
  for (const [concurrency, count] of [
    [undefined, 1],
    [{ count: 2, order: 'key' }, 2],
  ] as const) {
    const { ledger, calls, aTuple } = aBolt(concurrency);
    const begun = Array.from({ length: count }, (_, key) => calls.begin(aTuple(key)));
    assert.deepEqual(ledger.overlaps, []);
    calls.begin(aTuple(7));
    assert.deepEqual(ledger.overlaps, [`sink executed ${count} beside ${count} others`]);
    for (const call of begun) calls.end(call);
    calls.begin(aTuple(8));
    assert.equal(ledger.overlaps.length, count === 1 ? 2 : 1);
  }
});

test('U2: equal keys wait for each other where the bolt keeps their order', () => {
  for (const [order, problems] of [
    ['key', ['sink executed 2 beside another one of source default first=1']],
    ['none', []],
  ] as const) {
    const { ledger, calls, aTuple } = aBolt({ count: 5, order });
    calls.end(calls.begin(aTuple(1)));
    calls.begin(aTuple(1));
    calls.begin(aTuple(1));
    calls.begin(aTuple(2));
    assert.deepEqual(ledger.overlaps, problems);
  }
});

test('U3: ticks and finish wait for what is pending; ticks of a concurrent bolt do not', () => {
  const { ledger, calls, aTuple } = aBolt();
  calls.tick(false);
  const call = calls.begin(aTuple(1));
  calls.tick(false);
  calls.finish();
  const what = 'beside 1 pending calls';
  assert.deepEqual(ledger.overlaps, [`sink got a tick ${what}`, `sink was finished ${what}`]);
  calls.end(call);
  calls.finish();
  assert.equal(ledger.overlaps.length, 2);
  const concurrent = aBolt({ count: 2, order: 'key' });
  concurrent.calls.begin(concurrent.aTuple(1));
  concurrent.calls.tick(false);
  assert.deepEqual(concurrent.ledger.overlaps, []);
});

test('U4: there are no ticks after finish', () => {
  const { ledger, calls } = aBolt();
  calls.tick(true);
  assert.deepEqual(ledger.overlaps, ['sink got a tick after its finish had begun']);
});
