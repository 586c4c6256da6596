import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BasicBolt } from '../../../../src/api/basic-bolt.ts';
import { Bolt } from '../../../../src/api/bolt.ts';
import type { Tuple } from '../../../../src/api/tuple.ts';
import { LARGE_SET_MARKER } from '../../../../src/instance/ring-markers.ts';
import type { PhysicalPlan } from '../../../../src/model/physical-plan.ts';
import { aPlanOf } from '../../../support/planned-tasks.ts';
import { linePlan, TaskInTest } from '../../../support/task-in-test.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from '../../../support/topologies.ts';
import { aTuple, tupleSetBytes } from '../../../support/tuple-sets.ts';

type Word = Tuple<{ word: string }>;
const STREAMS = { default: ['word'], unread: ['word'] } as const;

/** As `linePlan`, but `middle` groups by the word. */
const keyedPlan: PhysicalPlan = aPlanOf(
  aTopology([
    aSpout('source', { parallelism: 2, outputs: [anOutput(['word', 'n'])] }),
    aBolt('middle', [anInput('source', { kind: 'fields', fields: ['word'] })], {
      outputs: [anOutput(['word']), anOutput(['word'], 'unread')],
    }),
    aBolt('sink', ['middle'], { outputs: [] }),
  ]),
  ['source', 1],
  ['source', 1],
  ['middle', 1],
  ['sink', 1],
);

/** Each call waits until the test settles it, by its word and number: `a1`. */
class Waiting extends BasicBolt.of(STREAMS) {
  readonly calls: string[] = [];
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  override async execute(tuple: Word): Promise<void> {
    const name = tuple.values.join('');
    this.calls.push(name);
    await this.gate(name).promise;
    this.calls.push(`${name} done`);
    this.emit([name]);
  }
  override finish(): void {
    this.calls.push('finish');
  }
  override cleanup(): void {
    this.calls.push('cleanup');
  }

  gate(name: string): PromiseWithResolvers<void> {
    const known = this.#gates.get(name) ?? Promise.withResolvers<void>();
    this.#gates.set(name, known);
    return known;
  }
  settleAll(): void {
    for (const gate of this.#gates.values()) gate.resolve();
  }
}

/** Ends the run: what is pending would be waited for, and keep the process of the test alive. */
async function stop(task: TaskInTest, bolt: Waiting): Promise<void> {
  task.running.stop();
  bolt.settleAll();
  await task.turn();
}

function aTask({ concurrency = 3, order = 'key', plan = keyedPlan, bolt = new Waiting() } = {}) {
  const task = new TaskInTest(bolt, {
    plan,
    config: { 'topology.bolt.concurrency': `${concurrency}`, 'topology.bolt.order': order },
  });
  const settle = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) bolt.gate(name).resolve();
    await task.turn();
  };
  return { task, bolt, settle };
}

/** `a1` is word a with number 1. */
const tuples = (...names: readonly string[]) => ({
  tuples: names.map(([word, n]) => aTuple(word, Number(n))),
});

describe('a concurrent bolt', () => {
  it('C1: runs so many at once, and no more', async () => {
    const { task, bolt, settle } = aTask();
    void task.start();
    task.feed(tuples('a1', 'b1', 'c1', 'd1', 'e1'));
    await task.turn();
    assert.deepEqual(bolt.calls, ['a1', 'b1', 'c1']);
    await settle('b1');
    assert.deepEqual(bolt.calls.slice(3), ['b1 done', 'd1']);
    assert.deepEqual(task.takeFrames(), ['default: b1']);
    await stop(task, bolt);
  });

  it('C2: executes equal keys one after the other, whatever stands between them', async () => {
    const { task, bolt, settle } = aTask();
    void task.start();
    task.feed(tuples('a1', 'a2', 'b1'));
    task.feed({ task: 2, ...tuples('a3', 'c1') });
    await task.turn();
    assert.deepEqual(bolt.calls, ['a1', 'b1', 'c1']);
    await settle('b1', 'c1');
    assert.deepEqual(bolt.calls.slice(3), ['b1 done', 'c1 done']);
    await settle('a1');
    assert.deepEqual(bolt.calls.slice(5), ['a1 done', 'a2']);
    await settle('a2', 'a3');
    assert.deepEqual(bolt.calls.slice(7), ['a2 done', 'a3', 'a3 done']);
    await stop(task, bolt);
  });

  it('C2: keeps no order of keys where none is asked for', async () => {
    const { task, bolt } = aTask({ order: 'none' });
    void task.start();
    task.feed(tuples('a1', 'a2', 'a3', 'a4'));
    await task.turn();
    assert.deepEqual(bolt.calls, ['a1', 'a2', 'a3']);
    await stop(task, bolt);
  });

  it('C2: there is no key without a fields grouping', async () => {
    const { task, bolt } = aTask({ plan: linePlan });
    void task.start();
    task.feed({ tuples: [aTuple('a'), aTuple('a')] });
    await task.turn();
    assert.deepEqual(bolt.calls, ['a', 'a']);
    await stop(task, bolt);
  });

  it('C3: credits a set when its last tuple is done, and takes only so many', async () => {
    const { task, bolt, settle } = aTask();
    void task.start();
    const first = tuples('a1', 'b1');
    const bytes = tupleSetBytes({ task: 1, component: 'source', ...first }).length;
    task.feed(first);
    await task.turn();
    assert.equal(task.gateway.status.takeConsumed(), 0);
    await settle('a1');
    assert.equal(task.gateway.status.takeConsumed(), 0);
    await settle('b1');
    assert.equal(task.gateway.status.takeConsumed(), bytes);
    // All of one key: one runs, and 3 · (1 + 8) are taken at most.
    for (let index = 0; index < 40; index += 1) task.feed(tuples('k1'));
    await task.turn();
    let left = 0;
    while (task.ports.dataIn.next()) {
      left += 1;
      task.ports.dataIn.release();
    }
    assert.equal(left, 40 - 27);
    assert.equal(bolt.calls.filter((call) => call === 'k1').length, 1);
    await stop(task, bolt);
  });

  it('C3: wakes the gateway for a credit that comes after the frame was given back', async () => {
    /** What a bolt emits would wake the gateway as well. */
    class Silent extends Waiting {
      override async execute(tuple: Word): Promise<void> {
        await this.gate(tuple.values.join('')).promise;
      }
    }
    const { task, settle } = aTask({ bolt: new Silent() });
    void task.start();
    task.feed(tuples('a1'));
    await task.turn();
    const before = task.gateway.bell.sequence();
    await settle('a1');
    assert.notEqual(task.gateway.status.takeConsumed(), 0);
    assert.ok(task.gateway.bell.sequence() > before);
    task.running.stop();
  });

  it('is idle when its last promise has settled, not waiting for one', async () => {
    const { task, settle } = aTask();
    void task.start();
    task.feed(tuples('a1', 'a2'));
    await task.turn();
    assert.equal(task.gateway.status.activity, 'promise');
    await settle('a1');
    assert.equal(task.gateway.status.activity, 'promise');
    await settle('a2');
    assert.equal(task.gateway.status.activity, 'idle');
    task.running.stop();
  });

  it('C4: finishes once, when all that it has begun is done', async () => {
    const { task, bolt, settle } = aTask();
    const done = task.start();
    task.feed(tuples('a1', 'a2', 'b1'));
    task.feedEnds();
    await task.turn();
    await settle('b1', 'a1');
    assert.ok(!bolt.calls.includes('finish'));
    await settle('a2');
    assert.equal(await task.drive(done), 'ended');
    assert.deepEqual(bolt.calls.slice(-2), ['a2 done', 'finish']);
    assert.deepEqual(task.takeFrames().at(-1), 'marker 2');
  });

  it('C4: after stop begins nothing, and waits for what runs', async () => {
    const { task, bolt, settle } = aTask({ concurrency: 2 });
    const done = task.start();
    task.feed(tuples('a1', 'a2', 'b1', 'c1'));
    await task.turn();
    task.running.stop();
    const closed = task.running.close();
    await settle('a1');
    assert.ok(!bolt.calls.includes('cleanup'));
    await settle('b1');
    assert.equal(await task.drive(done), 'stopped');
    await task.drive(closed);
    assert.deepEqual(bolt.calls, ['a1', 'b1', 'a1 done', 'b1 done', 'cleanup']);
  });

  it('C5: ticks come beside what is pending', async () => {
    class Ticked extends Waiting {
      override tick(): void {
        this.calls.push('tick');
      }
    }
    const bolt = new Ticked();
    const task = new TaskInTest(bolt, {
      plan: keyedPlan,
      config: { 'topology.bolt.concurrency': '2', 'topology.tick.tuple.freq.ms': '100' },
    });
    void task.start();
    task.feed(tuples('a1', 'b1'));
    await task.turn();
    task.clock.advance(100);
    await task.turn();
    assert.deepEqual(bolt.calls, ['a1', 'b1', 'tick']);
    await stop(task, bolt);
  });

  it('a failed tuple is reported, and its key goes on', async () => {
    const { task, bolt, settle } = aTask();
    void task.start();
    task.feed(tuples('a1', 'a2'));
    await task.turn();
    bolt.gate('a1').reject(new RangeError('too far'));
    await task.turn();
    assert.deepEqual(bolt.calls, ['a1', 'a2']);
    assert.match(task.exceptions.join(), /execute of 'middle' \(task 3\) failed on .*too far/);
    await settle('a2');
    assert.equal(bolt.calls.at(-1), 'a2 done');
    await stop(task, bolt);
  });

  it('a failure of a Bolt ends the instance', async () => {
    class Strict extends Bolt.of(STREAMS) {
      override async execute(tuple: Word): Promise<void> {
        await Promise.resolve();
        if (tuple.get('word') === 'b') throw new RangeError('too far');
        await new Promise(() => {});
      }
    }
    const task = new TaskInTest(new Strict(), {
      plan: keyedPlan,
      config: { 'topology.bolt.concurrency': '2' },
    });
    task.feed(tuples('a1', 'b1'));
    const failed = assert.rejects(task.start(), { code: 'COMPONENT_FAILED' });
    await task.turn();
    await failed;
  });

  it('an execute that returns no promise is done at once', async () => {
    const calls: string[] = [];
    class Quick extends BasicBolt.of(STREAMS) {
      override execute(tuple: Word): void {
        calls.push(tuple.get('word'));
        this.emit([tuple.get('word')]);
        if (tuple.get('word') === 'c') throw new RangeError('too far');
      }
    }
    const task = new TaskInTest(new Quick(), {
      plan: keyedPlan,
      config: { 'topology.bolt.concurrency': '2' },
    });
    task.feed(tuples('a1', 'a2', 'b1', 'c1', 'd1'));
    task.feedEnds();
    assert.equal(await task.drive(task.start()), 'ended');
    assert.deepEqual(calls, ['a', 'a', 'b', 'c', 'd']);
    assert.deepEqual(task.takeFrames(), ['default: a a b c d', 'marker 2']);
    assert.equal(task.exceptions.length, 1);
  });

  it('reads large sets', async () => {
    const { task, bolt, settle } = aTask();
    void task.start();
    const bytes = tupleSetBytes({ task: 1, component: 'source', ...tuples('a1', 'a2') });
    task.gateway.dataIn.writeMarker(LARGE_SET_MARKER);
    task.feed(tuples('b1'));
    await task.turn();
    assert.deepEqual(bolt.calls, []);
    task.ports.largeSets.put(bytes);
    await task.turn();
    assert.deepEqual(bolt.calls, ['a1', 'b1']);
    await settle('a1', 'a2', 'b1');
    assert.equal(bolt.calls.length, 6);
    await stop(task, bolt);
  });
});
