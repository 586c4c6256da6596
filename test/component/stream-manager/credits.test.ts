import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { PhysicalPlan } from '../../../src/model/physical-plan.ts';
import { eventually } from '../../support/eventually.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import {
  type RunningStreamManager,
  RunningStreamManagers,
} from '../../support/running-stream-managers.ts';
import type { ScriptedInstance } from '../../support/scripted-instance.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { tupleSetBytes } from '../../support/tuple-sets.ts';

/*
  Back pressure by credits (cases O05, O06, O08 as far as at most once goes). Windows are as small
  as they can be, so that a stall shows soon.
*/

const PEER_WINDOW = 65_536;
const INSTANCE_WINDOW = 131_072;
const config = new Map([
  ['heron.streammgr.credit.bytes', `${PEER_WINDOW}`],
  ['heron.instance.credit.bytes', `${INSTANCE_WINDOW}`],
]);

const topology = aTopology([
  aSpout('word'),
  aBolt('slow', [anInput('word', { kind: 'direct' })]),
  aBolt('quick', [anInput('word', { kind: 'direct' })]),
]);

/** A set of ten tuples of 100 bytes each for one task. */
function setFor(destination: number, source = 1, values = 10): Uint8Array {
  const value = Buffer.alloc(100, destination);
  const tuples = Array.from({ length: values }, () => ({
    values: [value],
    destinations: [destination],
  }));
  return tupleSetBytes({ task: source, tuples });
}

/** A source that obeys its window as a gateway does: it sends while its balance is above zero. */
class ObedientSource {
  sentSets = 0;
  #sentBytes = 0;
  readonly #instance: ScriptedInstance;
  readonly #set: Uint8Array;

  constructor(instance: ScriptedInstance, set: Uint8Array) {
    this.#instance = instance;
    this.#set = set;
  }

  get unreleasedBytes(): number {
    return this.#sentBytes - this.#instance.releasedBytes;
  }

  sendAll(setsMax: number): void {
    while (this.sentSets < setsMax && this.unreleasedBytes < INSTANCE_WINDOW) {
      this.#instance.sendSet(this.#set);
      this.sentSets += 1;
      this.#sentBytes += this.#set.length;
    }
  }
}

/** Waits until the stream manager has taken everything and nothing moves any more. */
async function settled(manager: RunningStreamManager, source: ObedientSource, setsMax: number) {
  let before = -1;
  await eventually(() => {
    source.sendAll(setsMax);
    const taken = manager.count('__server/__tuples_from_workers');
    const stands = taken === before && taken === source.sentSets * 10;
    before = taken;
    return stands;
  });
}

/** A running plan whose tasks 1 and 2 are `word` and `slow`. */
async function start(t: TestContext, plan: PhysicalPlan) {
  const running = await RunningStreamManagers.start(t, plan, { config });
  const all = await running.instances();
  const [word, slow] = [all.get(1), all.get(2)];
  assert.ok(word !== undefined && slow !== undefined);
  return { running, all, word, slow };
}

for (const [where, container] of [
  ['in the same container', 1],
  ['in another container', 2],
] as const) {
  describe(`a slow task ${where}`, () => {
    const plan = aPlanOf(topology, ['word', 1], ['slow', container], ['quick', container]);

    it('stops its source: no more is under way than the windows allow', async (t) => {
      const { running, word, slow } = await start(t, plan);
      slow.isSlow = true;
      const set = setFor(2);
      const source = new ObedientSource(word, set);
      await settled(running.managerOf(1), source, 10_000);
      // The window from the instance, and one set that made the balance negative.
      assert.ok(source.unreleasedBytes >= INSTANCE_WINDOW);
      assert.ok(source.unreleasedBytes <= INSTANCE_WINDOW + set.length);
      assert.ok(slow.receivedBytes >= PEER_WINDOW, `${slow.receivedBytes} bytes arrived`);
      assert.ok(slow.receivedBytes <= PEER_WINDOW + 33_000, `${slow.receivedBytes} bytes arrived`);
      assert.ok(source.sentSets < 400);
    });

    it('gets every tuple once it goes on, and the source goes on with it', async (t) => {
      const { running, word, slow } = await start(t, plan);
      slow.isSlow = true;
      const source = new ObedientSource(word, setFor(2));
      await settled(running.managerOf(1), source, 1_000);
      assert.ok(source.sentSets < 1_000);
      slow.isSlow = false;
      slow.consume();
      await eventually(() => {
        source.sendAll(1_000);
        return slow.tupleCount === 10_000;
      });
      assert.equal(source.sentSets, 1_000);
    });

    it('does not slow a task beside it', async (t) => {
      const { running, all, word, slow } = await start(
        t,
        aPlanOf(topology, ['word', 1], ['slow', container], ['quick', container], ['word', 1]),
      );
      const [quick, other] = [all.get(3), all.get(4)];
      assert.ok(quick !== undefined && other !== undefined);
      slow.isSlow = true;
      const stopped = new ObedientSource(word, setFor(2));
      await settled(running.managerOf(1), stopped, 10_000);
      const others = new ObedientSource(other, setFor(3, 4));
      await eventually(() => {
        others.sendAll(1_000);
        return quick.tupleCount === 10_000;
      });
    });
  });
}

describe('a slow task that dies', () => {
  it('frees its source, and what was not under way reaches its successor', async (t) => {
    const plan = aPlanOf(topology, ['word', 1], ['slow', 2], ['quick', 2]);
    const { running, word, slow } = await start(t, plan);
    slow.isSlow = true;
    const source = new ObedientSource(word, setFor(2));
    await settled(running.managerOf(1), source, 10_000);
    slow.kill();
    const successor = await running.instance(2);
    const total = source.sentSets * 10;
    const lost = (): number => running.managerOf(2).count('__server/__tuples_to_workers_lost');
    await eventually(() => successor.tupleCount + lost() === total);
    assert.equal(lost(), slow.tupleCount);
    await eventually(() => source.unreleasedBytes < INSTANCE_WINDOW / 2);
  });
});

describe('a foreign source, which knows no credits', () => {
  const python = aTopology([
    aSpout('word', { language: 'python' }),
    aBolt('slow', [anInput('word', { kind: 'direct' })]),
    aBolt('quick', [anInput('word', { kind: 'direct' })]),
  ]);
  const plan = aPlanOf(python, ['word', 1], ['slow', 1], ['quick', 1]);

  it('is stopped by its socket, and loses nothing', async (t) => {
    const { running, word, slow } = await start(t, plan);
    slow.isSlow = true;
    // Far more than the kernel's socket buffers hold.
    const set = setFor(2, 1, 1_000);
    const sets = 400;
    for (let index = 0; index < sets; index += 1) word.sendSet(set);
    const manager = running.managerOf(1);
    let before = -1;
    await eventually(() => {
      const taken = manager.count('__server/__tuples_from_workers');
      const stands = taken > 0 && taken === before;
      before = taken;
      return stands;
    });
    assert.ok(before < sets * 1_000, 'the socket is not read to its end');
    assert.ok(word.unsentBytes > 0, 'the source cannot write');
    slow.isSlow = false;
    slow.consume();
    await eventually(() => slow.tupleCount === sets * 1_000, { timeoutMs: 30_000 });
  });
});

describe('a foreign destination, which knows no credits', () => {
  const python = aTopology([
    aSpout('word'),
    aBolt('slow', [anInput('word', { kind: 'direct' })], { language: 'python' }),
    aBolt('quick', [anInput('word', { kind: 'direct' })]),
  ]);
  const plan = aPlanOf(python, ['word', 1], ['slow', 2], ['quick', 1]);

  it('is paced by what its socket takes', async (t) => {
    const { running, word, slow } = await start(t, plan);
    const source = new ObedientSource(word, setFor(2));
    await eventually(() => {
      source.sendAll(500);
      return slow.tupleCount === 5_000;
    });
    slow.pauseReading();
    const many = 100_000;
    await settled(running.managerOf(1), source, many);
    assert.ok(source.sentSets < many, 'it stops when the socket is full');
    const sent = source.sentSets;
    slow.resumeReading();
    await eventually(() => slow.tupleCount >= sent * 10, { timeoutMs: 30_000 });
  });
});

describe('packets beyond the limit', () => {
  it('end the connection of their sender, and nothing else', async (t) => {
    const python = aTopology([
      aSpout('word', { language: 'python' }),
      aBolt('count', [anInput('word', { kind: 'all' })]),
    ]);
    const plan = aPlanOf(python, ['word', 1], ['word', 1], ['count', 1]);
    const limit = new Map([['heron.streammgr.network.options.maximum.packet.mb', '1']]);
    const running = await RunningStreamManagers.start(t, plan, { config: limit });
    const all = await running.instances();
    const value = Buffer.alloc(1024 * 1024, 'x');
    all.get(1)?.sendSet(tupleSetBytes({ task: 1, tuples: [{ values: [value] }] }));
    await eventually(() => all.get(1)?.isClosed === true);
    const fits = value.subarray(0, 1024 * 1024 - 200);
    all.get(2)?.sendSet(tupleSetBytes({ task: 2, tuples: [{ values: [fits] }] }));
    await eventually(() => all.get(3)?.tupleCount === 1);
  });
});
