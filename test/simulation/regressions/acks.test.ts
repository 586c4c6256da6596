import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runScenario } from '../../../src/simulation/scenario/run-scenario.ts';
import { aBolt, aSpout, aWorkload } from '../../support/workload-descriptions.ts';

/* Faults of the engine that seeds have found: acks and fails. */

const CAREFUL = { isAnchored: true, acksTwice: false, mishaps: [] } as const;

const workload = aWorkload({
  containers: 2,
  config: {
    'topology.reliability.mode': 'ATLEAST_ONCE',
    'topology.message.timeout.secs': '1',
    'heron.instance.queue.bytes': '65536',
  },
  spouts: [
    aSpout('words', {
      parallelism: 2,
      tuples: 60,
      streams: [{ name: 'default', payloadBytes: [3000], keys: 4 }],
      pace: { kind: 'trickle', everyMs: 5 },
      withMessageIds: true,
      replay: { afterMs: 0, endsEarly: false },
    }),
  ],
  bolts: [
    aBolt('split', ['words'], {
      parallelism: 2,
      fanOut: 3,
      streams: [{ name: 'default', payloadBytes: [9000], keys: 4 }],
      acking: CAREFUL,
    }),
    aBolt('count', ['split'], { parallelism: 2, fanOut: 0, workMs: 1, acking: CAREFUL }),
  ],
});

/** The ack of a tuple overtook the fail of one that it had led to, and that was dropped. */
test('a message is not acked when a tuple that descends from it was dropped', async () => {
  const dropping = {
    ...workload,
    config: {
      ...workload.config,
      'topology.droptuples.upon.backpressure': 'true',
      'heron.streammgr.backpressure.age.ms': '20',
    },
    spouts: workload.spouts.map((spout) => ({
      ...spout,
      replay: { afterMs: 200, endsEarly: false, failuresMax: 3 },
    })),
    bolts: workload.bolts.map((bolt) => ({ ...bolt, workMs: bolt.name === 'count' ? 20 : 0 })),
  };
  const { problems } = await runScenario({ seed: 1, workload: dropping, faults: [] });
  assert.deepEqual(problems, []);
});
