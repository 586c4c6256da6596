import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import {
  componentName,
  epoch,
  instanceId,
  streamManagerId,
  streamName,
  taskId,
  topologyId,
  topologyName,
} from '../../../src/base/ids.ts';
import type { MasterNotes, PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { StoredPhysicalPlan, StoredTopology } from '../../../src/wire/messages.ts';
import {
  decodePhysicalPlan,
  encodePhysicalPlan,
  notesFromMessage,
  physicalPlanFromMessage,
  physicalPlanToMessage,
  withMasterEpoch,
} from '../../../src/wire/physical-plan.ts';
import { topologyToMessage } from '../../../src/wire/topology.ts';
import { goldenFolder } from '../../support/golden.ts';

const plan: PhysicalPlan = {
  epoch: epoch(2 ** 40),
  topology: {
    id: topologyId('words-4f2a'),
    name: topologyName('words'),
    state: 'RUNNING',
    config: new Map(),
    components: [
      {
        kind: 'spout',
        name: componentName('sentences'),
        parallelism: 1,
        language: 'typescript',
        className: 'Sentences',
        config: new Map(),
        outputs: [{ stream: streamName('default'), fields: ['word'] }],
      },
    ],
  },
  streamManagers: [
    {
      id: streamManagerId('stmgr-1'),
      host: '127.0.0.2',
      dataPort: 40_001,
      localDataPort: 40_002,
      workingDirectory: '/srv/words/container-1',
      pid: 4711,
      shellPort: 0,
    },
  ],
  instances: [
    {
      id: instanceId('container_1_sentences_1'),
      streamManager: streamManagerId('stmgr-1'),
      task: taskId(1),
      componentIndex: 0,
      component: componentName('sentences'),
    },
  ],
};

suite('physical plans', () => {
  test('come back as they were', () => {
    assert.deepEqual(decodePhysicalPlan(encodePhysicalPlan(plan)), plan);
  });

  test('in the middle of an update come back as they were', () => {
    const instances = plan.instances.map((instance) => ({ ...instance, isRetiring: true }));
    const joining = instances.map((instance) => ({ ...instance, joiningEpoch: epoch(4) }));
    const late = plan.instances.map((instance) => ({ ...instance, isWithoutInput: true }));
    for (const changed of [instances, joining, late]) {
      const updating = { ...plan, instances: changed };
      assert.deepEqual(decodePhysicalPlan(encodePhysicalPlan(updating)), updating);
    }
  });

  test('carry the notes of topology masters, whoever writes them again', () => {
    const notes: MasterNotes = {
      masterEpoch: epoch(7),
      earlyEnds: [{ process: 'stmgr-1', atMs: 5 }],
      firstPlan: { wallMs: 10, machine: { bootId: 'boot', ms: 3 } },
      pastIncidents: [{ process: 'stmgr-2', atMs: 9, container: 2, reason: 'killed' }],
      retiringSinceMs: 11,
    };
    const message = physicalPlanToMessage(plan, topologyToMessage(plan.topology), notes);
    const received = StoredPhysicalPlan.decode(StoredPhysicalPlan.encode(message));
    assert.deepEqual(notesFromMessage(received), notes);
    const again = withMasterEpoch(received, epoch(8));
    assert.deepEqual(notesFromMessage(again), { ...notes, masterEpoch: 8 });
    assert.deepEqual(physicalPlanFromMessage(again), plan);
    assert.equal(notesFromMessage(received).masterEpoch, 7);
  });

  test('without notes say nothing', () => {
    const none = notesFromMessage(StoredPhysicalPlan.decode(encodePhysicalPlan(plan)));
    assert.deepEqual(none, { masterEpoch: 0, earlyEnds: [], pastIncidents: [] });
  });

  test('hold all that Heron wants to know of a stream manager', () => {
    const [streamManager] = StoredPhysicalPlan.decode(encodePhysicalPlan(plan)).stmgrs;
    assert.ok(streamManager);
    assert.equal(streamManager.localEndpoint, '/unused');
    for (const field of ['cwd', 'pid', 'shellPort', 'localDataPort']) {
      assert.ok(Object.hasOwn(streamManager, field), field);
    }
  });

  test('of other implementations have the epoch 0', () => {
    const stored = goldenFolder('state').find(({ name }) => name.includes('pplans'));
    assert.ok(stored);
    const read = decodePhysicalPlan(stored.bytes);
    assert.equal(read.epoch, 0);
    assert.equal(read.topology.name, 'g-live');
    assert.ok(read.instances.length > 0);
    assert.match(read.instances[0]?.id ?? '', /^container_\d+_/);
  });

  test('carry a foreign topology with all its bytes', () => {
    for (const { name, bytes } of goldenFolder('topology')) {
      const message = physicalPlanToMessage(plan, StoredTopology.decode(bytes));
      const received = StoredPhysicalPlan.decode(StoredPhysicalPlan.encode(message));
      assert.ok(received.topology);
      assert.deepEqual(StoredTopology.encode(received.topology), Uint8Array.from(bytes), name);
      assert.deepEqual(physicalPlanFromMessage(received).instances, plan.instances);
    }
  });

  test('that are corrupted say what is wrong', () => {
    assert.throws(
      () => decodePhysicalPlan(Uint8Array.of(0x12, 0)),
      (error) => hasCode(error, 'STATE_CORRUPTED') && error.message.includes('field topology'),
    );
  });
});
