import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type StreamManagerId, taskId } from '../../../src/base/ids.ts';
import { createSeededRandom, type Random } from '../../../src/base/random.ts';
import {
  AckedDataPaths,
  type ArrivedTuple,
  type PathInstance,
} from '../../support/acked-data-paths.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';
import { aBolt, anInput, aSpout, aTopology } from '../../support/topologies.ts';
import { FIRST, SECOND, THIRD } from '../../support/tree-plans.ts';

/*
  Trees over three stream managers whose links and instances come and go at random, and whose
  packets arrive late. Whatever happens, no tree is acked of which a tuple was not acked, none is
  settled twice, and in the end each one is settled.
*/

const PAIRS = [
  [FIRST, SECOND],
  [FIRST, THIRD],
  [SECOND, THIRD],
] as const;
const SPOUTS = [1, 2];
const BOLTS = [3, 4, 5, 6, 7];
const TIMEOUT_MS = 10_000;

/** Two spouts and three bolts behind each other, of which one stands twice. */
function aPlan() {
  const topology = aTopology([
    aSpout('word', { parallelism: 2 }),
    aBolt('relay', ['word'], { parallelism: 2 }),
    aBolt('split', ['relay'], { parallelism: 2 }),
    aBolt('count', ['split', anInput('relay')]),
  ]);
  return aPlanOf(
    topology,
    ['word', 1],
    ['word', 2],
    ['relay', 2],
    ['relay', 3],
    ['split', 1],
    ['split', 2],
    ['count', 3],
  );
}

/** How many tuples that a task emits for each it emits: one for each component that reads it. */
const COPIES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 2, 5: 1, 6: 1, 7: 0 };

/** A tuple that a bolt has taken and not acked. */
interface Work {
  readonly bolt: PathInstance;
  readonly tuple: ArrivedTuple;
  readonly key: bigint;
}

class Run {
  readonly #random: Random;
  readonly #paths = new AckedDataPaths(aPlan(), { timeoutMs: TIMEOUT_MS });
  readonly #cut = new Set<number>();
  /** By key of the root: tuples that were emitted, and that were acked. */
  readonly #emitted = new Map<bigint, number>();
  readonly #acked = new Map<bigint, number>();
  readonly #taken = new Map<object, number>();
  readonly #checked = new Map<number, number>();
  readonly #working: Work[] = [];
  #nextKey = 1n;

  constructor(seed: number) {
    this.#random = createSeededRandom(seed);
  }

  step(): void {
    const choice = this.#random.below(200);
    if (choice < 6) this.#emit();
    else if (choice < 50) this.#work();
    else if (choice < 100) this.#ack();
    else if (choice < 140) this.#paths.clock.runSoon();
    else if (choice < 197) this.#deliverOne();
    else if (choice < 198) this.#cutOrLink();
    else if (choice < 199 && this.#random.below(8) === 0) this.#restart();
    else this.#paths.clock.advance(this.#random.below(200));
    this.#check();
  }

  /** Everything is mended, and time passes. */
  finish(): { readonly acked: number; readonly failed: number } {
    for (const pair of this.#cut) this.#paths.link(...(PAIRS[pair] as (typeof PAIRS)[number]));
    for (let round = 0; round < 3; round += 1) {
      this.#workOff();
      this.#paths.clock.advance(TIMEOUT_MS);
    }
    this.#check();
    assert.equal(this.#paths.liveTrees(), 0);
    const spouts = SPOUTS.map((task) => this.#paths.instance(task));
    const settled = spouts.flatMap((spout) => spout.settledKeys);
    assert.equal(new Set(settled).size, settled.length, 'no tree is settled twice');
    assert.deepEqual(new Set(settled), new Set(this.#emitted.keys()));
    const acked = spouts.reduce((sum, spout) => sum + spout.acked.length, 0);
    return { acked, failed: settled.length - acked };
  }

  /** Bolts take and ack all that there is. */
  #workOff(): void {
    for (let round = 0; round < 200; round += 1) {
      for (const task of BOLTS) this.#work(task);
      for (let acks = this.#working.length / 3; acks > 0; acks -= 1) this.#ack();
      this.#paths.settle();
      this.#check();
    }
  }

  #emit(): void {
    const key = this.#nextKey;
    this.#nextKey += 1n;
    this.#emitted.set(key, 1);
    this.#paths.instance(this.#pick(SPOUTS)).emitRoot(key);
  }

  /** A bolt takes its next tuple and emits something. */
  #work(task = this.#pick(BOLTS)): void {
    const bolt = this.#paths.instance(task);
    const at = this.#taken.get(bolt) ?? 0;
    const tuple = bolt.tuples[at];
    if (tuple === undefined) return;
    this.#taken.set(bolt, at + 1);
    const key = tuple.roots[0]?.key as bigint;
    const children = bolt.task === 7 ? 0 : this.#random.below(2);
    add(this.#emitted, key, children * (COPIES[bolt.task] as number));
    if (children > 0) bolt.emit(Array.from({ length: children }, () => tuple.roots));
    this.#working.push({ bolt, tuple, key });
    if (this.#random.below(4) === 0) bolt.consume();
  }

  /** Some bolt acks a tuple that it works on. */
  #ack(): void {
    if (this.#working.length === 0) return;
    const [work] = this.#working.splice(this.#random.below(this.#working.length), 1);
    const { bolt, tuple, key } = work as Work;
    if (this.#paths.instance(bolt.task) !== bolt) return; // Its process has died meanwhile.
    add(this.#acked, key, 1);
    bolt.ack(tuple);
  }

  #deliverOne(): void {
    const pair = this.#random.below(PAIRS.length);
    if (this.#cut.has(pair)) return;
    const [from, to] = PAIRS[pair] as (typeof PAIRS)[number];
    this.#paths.deliver(this.#random.below(2) === 0 ? `${from}>${to}` : `${to}>${from}`);
  }

  #cutOrLink(): void {
    const pair = this.#random.below(PAIRS.length);
    const ends = PAIRS[pair] as (typeof PAIRS)[number];
    if (!this.#cut.has(pair)) {
      this.#cut.add(pair);
      this.#paths.cut(...ends);
      return;
    }
    const [from, to]: readonly StreamManagerId[] =
      this.#random.below(2) === 0 ? ends : ends.toReversed();
    this.#paths.link(from as StreamManagerId, to as StreamManagerId, () => {
      for (let step = this.#random.below(12); step > 0; step -= 1) {
        if (this.#random.below(3) === 0) this.#emit();
        this.#work();
        this.#ack();
        this.#deliverOne();
        this.#paths.clock.runSoon();
      }
    });
    this.#cut.delete(pair);
  }

  #restart(): void {
    const task = taskId(this.#pick(BOLTS));
    this.#paths.kill(task);
    this.#paths.connect(task);
  }

  /** No tree is acked of which a tuple was not. */
  #check(): void {
    for (const task of SPOUTS) {
      const { acked } = this.#paths.instance(task);
      for (const key of acked.slice(this.#checked.get(task) ?? 0)) {
        assert.equal(this.#acked.get(key), this.#emitted.get(key), `tree ${key}`);
      }
      this.#checked.set(task, acked.length);
    }
  }

  #pick(tasks: readonly number[]): number {
    return tasks[this.#random.below(tasks.length)] as number;
  }
}

function add(counts: Map<bigint, number>, key: bigint, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}

describe('trees while links and instances come and go', () => {
  it('are acked only when whole, and settled once, for 400 seeds', () => {
    const sum = { acked: 0, failed: 0 };
    for (let seed = 1; seed <= 400; seed += 1) {
      const run = new Run(seed);
      try {
        for (let step = 0; step < 600; step += 1) run.step();
        const { acked, failed } = run.finish();
        sum.acked += acked;
        sum.failed += failed;
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
    assert.ok(sum.acked > 1_000 && sum.failed > 1_000, JSON.stringify(sum));
  });
});
