import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { taskId } from '../../src/base/ids.ts';
import { SimulatedCluster } from '../../src/simulation/cluster/simulated-cluster.ts';
import { Kernel } from '../../src/simulation/kernel/kernel.ts';
import { runScenario } from '../../src/simulation/scenario/run-scenario.ts';
import { StreamManager } from '../../src/stream-manager/stream-manager.ts';
import { PacedChains, type PacedChainsOptions } from '../support/paced-chains.ts';
import { aBolt, aSpout, aWorkload } from '../support/workload-descriptions.ts';

/* Rows of overload, time-outs and back pressure that take long: on simulated time. */

const CAREFUL = { isAnchored: true, acksTwice: false, mishaps: [] } as const;

const EVENTS_MAX = 5_000_000;

/** A cluster with chains in it that is up. */
async function running(options: Omit<PacedChainsOptions, 'spend'>) {
  const kernel = new Kernel({ seed: 1, keepsLog: false });
  const cluster = new SimulatedCluster({ kernel, quickStart: true });
  const topology = new PacedChains({
    ...options,
    spend: (task, ms) => cluster.threadOf(taskId(task))?.spend(ms),
  });
  const until = async (condition: () => boolean, simulatedMsMax = 60_000): Promise<void> => {
    const end = await kernel.run(condition, { simulatedMsMax, eventsMax: EVENTS_MAX });
    assert.equal(end, 'reached', `at ${kernel.nowMs} ms`);
  };
  const managers = (): readonly StreamManager[] =>
    cluster.processes().flatMap(({ object }) => (object instanceof StreamManager ? [object] : []));
  void cluster.submit(topology.built);
  await until(() => topology.chains.every(({ acked }) => acked > 10));
  return {
    kernel,
    cluster,
    until,
    managers,
    chains: topology.chains,
    chain: topology.chain,
    advance: (ms: number) => kernel.advance(ms, EVENTS_MAX),
    isHeld: () => managers().some(({ backPressure }) => backPressure.held.size > 0),
    close: () => {
      for (const process of cluster.machine.processes) process.signal('SIGKILL');
    },
  };
}

suite('time-outs', () => {
  test('S01: trees of failed and forgotten tuples end, five times over', async () => {
    const run = await running({
      config: { 'topology.message.timeout.secs': '2', 'topology.max.spout.pending': '10000' },
    });
    for (let round = 1; round <= 5; round += 1) {
      run.chain.throws = 100;
      await run.until(() => run.chain.throws === 0);
      run.cluster.kill('container_2_sink-0_2'); // What it had is forgotten.
      await run.until(() => run.chain.fails.some(({ kind }) => kind !== 'thrown'));
      await run.advance(4_400);
      const live = run.managers().reduce((sum, { liveTrees }) => sum + liveTrees, 0);
      assert.ok(live <= 2, `${live} trees in round ${round}: only those on their way`);
      run.chain.fails.splice(0);
    }
    run.close();
  });

  test('S04: without time-outs a message waits for its ack for as long as that takes', async () => {
    const workload = aWorkload({
      config: {
        'topology.reliability.mode': 'ATLEAST_ONCE',
        'topology.enable.message.timeouts': 'false',
        'topology.max.spout.pending': '10',
      },
      spouts: [
        aSpout('words', {
          tuples: 20,
          withMessageIds: true,
          replay: { afterMs: 0, endsEarly: false },
        }),
      ],
      bolts: [
        aBolt('count', ['words'], {
          base: 'plain',
          style: { kind: 'detached', afterMs: 90_000 },
          acking: CAREFUL,
        }),
      ],
    });
    const { problems, simulatedMs } = await runScenario({ seed: 1, workload, faults: [] });
    assert.deepEqual(problems, []);
    assert.ok(simulatedMs > 180_000, 'two rounds of ten, each of three default time-outs');
  });

  test('S11: what waits behind a slow bolt is not failed by the clock', async () => {
    const run = await running({
      everyMs: 10,
      config: {
        'topology.message.timeout.secs': '4',
        'heron.streammgr.backpressure.age.ms': '500',
        'topology.max.spout.pending': '100000',
      },
    });
    const executedIn = async (ms: number): Promise<number> => {
      const before = run.chain.executed;
      await run.advance(ms);
      return run.chain.executed - before;
    };
    const normal = await executedIn(10_000);
    run.chain.workMs = 100; // Ten times what it may take.
    await run.advance(20_000);
    const replays = run.chain.fails.length;
    run.chain.workMs = 0;
    await run.advance(5_000);
    const recovered = await executedIn(10_000);
    assert.equal(replays, 0);
    assert.ok(recovered >= 0.9 * normal, `${recovered} after, ${normal} before`);
    run.close();
  });
});

suite('back pressure', () => {
  test('O01: it ends with its owner, a hundred times', async () => {
    const run = await running({
      everyMs: 5,
      config: {
        'heron.streammgr.backpressure.age.ms': '100',
        'heron.streammgr.backpressure.lease.ms': '500',
        'topology.message.timeout.secs': '600',
      },
    });
    const sink = run.cluster.processes().find(({ name }) => name.includes('sink'));
    assert.ok(sink !== undefined);
    const owner = sink.name.replace(/^container_(\d+)_.*/, 'stmgr-$1');
    for (let round = 0; round < 100; round += 1) {
      run.chain.workMs = 2_000;
      await run.until(() => run.isHeld());
      run.chain.workMs = 0;
      run.cluster.kill(round % 2 === 0 ? owner : sink.name);
      const { emitted } = run.chain;
      await run.until(() => run.chain.emitted > emitted && !run.isHeld(), 10_000);
    }
    run.close();
  });

  test('O03: only spouts above the slow bolt hold, for each of two slow ones', async () => {
    const run = await running({
      chains: 3,
      everyMs: 10,
      config: {
        'heron.streammgr.backpressure.age.ms': '200',
        'topology.message.timeout.secs': '600',
      },
    });
    const [slow, other, free] = run.chains;
    assert.ok(slow !== undefined && other !== undefined && free !== undefined);
    const before = free.executed;
    await run.advance(10_000);
    const normal = free.executed - before;
    slow.workMs = 1_000;
    other.workMs = 1_000;
    await run.advance(5_000);
    const heldTasks = (): number =>
      run.managers().reduce((sum, { backPressure }) => sum + backPressure.held.size, 0);
    assert.equal(heldTasks(), 2);
    const { executed } = free;
    await run.advance(10_000);
    assert.ok(free.executed - executed >= 0.95 * normal);
    slow.workMs = 0;
    await run.until(() => heldTasks() === 1);
    const { emitted } = other;
    await run.advance(300);
    assert.ok(other.emitted - emitted <= 2, 'the other one is not released with it');
    run.close();
  });

  test('S10: ticks are not queued behind each other, and go on', async () => {
    const workload = aWorkload({
      config: {
        'topology.reliability.mode': 'ATLEAST_ONCE',
        'heron.streammgr.backpressure.age.ms': '200',
      },
      spouts: [
        aSpout('words', {
          tuples: 20,
          withMessageIds: true,
          pace: { kind: 'flood', perCall: 20 },
          replay: { afterMs: 0, endsEarly: false },
        }),
      ],
      // Each tuple takes ten periods; code of the workload tells of ticks that come beside calls.
      bolts: [aBolt('count', ['words'], { tickMs: 100, workMs: 1_000, acking: CAREFUL })],
    });
    const { problems, outcome } = await runScenario({ seed: 1, workload, faults: [] });
    assert.deepEqual(problems, []);
    assert.equal(outcome, 'completed');
  });

  for (const mode of ['ATLEAST_ONCE', 'ATMOST_ONCE'] as const) {
    const row = mode === 'ATLEAST_ONCE' ? 'O06' : 'O08';
    test(`${row}: ${mode}: ten minutes behind a bolt that hangs cost no memory`, async () => {
      const run = await running({
        everyMs: 1,
        payloadBytes: 8192,
        config: { 'topology.reliability.mode': mode, 'topology.max.spout.pending': '100000' },
      });
      const { executed } = run.chain;
      run.chain.workMs = STALL_MS;
      await run.until(() => run.chain.executed > executed);
      run.chain.workMs = 0;
      const holdings: number[] = [];
      for (let minute = 1; minute < STALL_MS / 60_000; minute += 1) {
        await run.advance(60_000);
        holdings.push(bytesHeld(run.managers()));
      }
      assert.ok(Math.max(...holdings) < HELD_BYTES_MAX, `held ${holdings.join(', ')} bytes`);
      assert.equal(holdings.at(-1), holdings[0], 'it grew in the first minute only');
      assert.ok(run.isHeld(), 'its spout stands still');
      const { emitted } = run.chain;
      await run.until(() => run.chain.executed > emitted, 120_000);
      assert.deepEqual(run.chain.fails, []);
      run.close();
    });
  }
});

const STALL_MS = 600_000;
/** The windows of one sender and one source, and the packets that go beyond them. */
const HELD_BYTES_MAX = 2 * 1024 * 1024;

function bytesHeld(managers: readonly StreamManager[]): number {
  return managers
    .flatMap(({ holdings: { outboxes, destinations } }) => [
      ...outboxes.map(({ queuedBytes }) => queuedBytes),
      ...destinations.map(({ unconsumedBytes, waitingBytes }) => unconsumedBytes + waitingBytes),
    ])
    .reduce((sum, bytes) => sum + bytes, 0);
}
