import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Places } from '../../../../src/simulation/checkers/places.ts';
import { packingOf } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';

test('a tuple passes its source, one or two stream managers, and its destination', () => {
  const { workload, source, sink, otherSink } = new HandWritten();
  const places = new Places(packingOf(workload));
  const from = places.of(source);
  for (const task of [sink, otherSink]) {
    const to = places.of(task);
    assert.deepEqual(places.wayOf(source, task), [
      from.instance,
      from.streamManager,
      to.streamManager,
      to.instance,
    ]);
    assert.equal(to.instance, `container_${to.container}_sink_${task}`);
  }
  assert.deepEqual(
    places.dataProcesses.toSorted(),
    [
      ...[source, sink, otherSink].map((task) => places.of(task).instance),
      'stmgr-1',
      'stmgr-2',
    ].toSorted(),
  );
});

test('the stream manager of a container by any process in it', () => {
  const places = new Places(packingOf(new HandWritten().workload));
  assert.equal(places.streamManagerOf('container_2_a_b_3'), 'stmgr-2');
  assert.equal(places.streamManagerOf('stmgr-1'), 'stmgr-1');
  assert.equal(places.streamManagerOf('heron-tmanager'), undefined);
});
