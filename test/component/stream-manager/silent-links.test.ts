import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { toBinary } from '@bufbuild/protobuf';
import { assertDefined } from '../../../src/base/assert.ts';
import { epoch } from '../../../src/base/ids.ts';
import { decodeFailDetail } from '../../../src/wire/fail-detail.ts';
import { FailDetailSchema } from '../../../src/wire/generated/tuple_pb.js';
import { eventually } from '../../support/eventually.ts';
import { FaultyProxy } from '../../support/faulty-proxy.ts';
import { AT_LEAST_ONCE, tracked } from '../../support/live-updates.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { RunningStreamManagers } from '../../support/running-stream-managers.ts';
import type { ScriptedInstance } from '../../support/scripted-instance.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';

/* Ways that swallow what they are given, without a word to either side. */

const topology = aTopology([aSpout('word'), aBolt('count', ['word'])]);
const apart = aPlanOf(topology, ['word', 1], ['count', 2]);
const together = aPlanOf(topology, ['word', 1], ['count', 1], ['count', 1]);

/** The least that may be set. */
const QUICKLY = ['heron.streammgr.link.silence.ms', '1000'] as const;

/** Two stream managers that can break the way between them, and the instances of both. */
async function withProxy(t: TestContext) {
  const config = new Map([...AT_LEAST_ONCE, QUICKLY]);
  const running = await RunningStreamManagers.start(t, apart, { config });
  running.master.holdsPlanBack = true;
  const [word, count] = [await running.instance(1), await running.instance(2)];
  await eventually(() => running.master.addresses.length === 2);
  const proxy = await FaultyProxy.start(t, running.managerOf(2).manager.ports.data);
  running.master.plan = { ...apart, epoch: epoch(1) };
  running.master.publish(
    running.master.addresses.map((address) =>
      address.id === 'stmgr-2' ? { ...address, dataPort: proxy.port } : address,
    ),
  );
  await word.plan();
  return { running, word, count, proxy };
}

/** Why trees have failed, as a spout was told. */
function failsOf({ controls }: ScriptedInstance): readonly string[] {
  return controls.flatMap(({ fails }) =>
    fails.map(({ detail }) => {
      const bytes = toBinary(FailDetailSchema, assertDefined(detail, 'this engine gives it'));
      return decodeFailDetail(bytes, 0, bytes.length).kind;
    }),
  );
}

describe('a way between two stream managers that swallows what it is given', () => {
  it('O35: is given up by both, its trees fail at once, and it is dialled anew', async (t) => {
    const { running, word, count, proxy } = await withProxy(t);
    word.sendSet(tracked(0, 5));
    await eventually(() => count.tupleCount === 5);
    proxy.fault = { kind: 'blackhole' };
    word.sendSet(tracked(5, 10));
    await eventually(() => failsOf(word).length >= 5);
    assert.deepEqual(new Set(failsOf(word)), new Set(['lost-stream-manager']));
    for (const container of [1, 2]) {
      const { log } = running.managerOf(container);
      await eventually(() => log.includes('lost a stream manager'));
    }
    proxy.fault = { kind: 'none' };
    proxy.cutNow(); // The dials that it has swallowed, which would otherwise take their time.
    word.sendSet(tracked(10, 20));
    await eventually(() => count.tupleCount === 15);
  });
});

describe('an instance that promised to say that it lives', () => {
  it('and does not is lost; one that promised nothing is not', async (t) => {
    const running = await RunningStreamManagers.start(t, together, { config: new Map([QUICKLY]) });
    const silent = await running.instance(2, { beats: true });
    const modest = await running.instance(3);
    const { log } = running.managerOf(1);
    await eventually(() => silent.isClosed);
    assert.equal(log.filter((line) => line === 'lost an instance').length, 1);
    assert.ok(!modest.isClosed);
    const beats = silent.packets.filter(({ typeName }) => typeName.endsWith('.LinkBeatMessage'));
    assert.ok(beats.length >= 4, `${beats.length} beats came`);
    assert.ok(!modest.packets.some(({ typeName }) => typeName.endsWith('.LinkBeatMessage')));
  });
});
