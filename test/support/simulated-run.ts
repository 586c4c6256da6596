import assert from 'node:assert/strict';
import {
  SimulatedCluster,
  type SimulatedClusterOptions,
  type SubmitOptions,
} from '../../src/simulation/cluster/simulated-cluster.ts';
import { Kernel } from '../../src/simulation/kernel/kernel.ts';
import type { WordCount } from './simulated-word-count.ts';

const SIMULATED_MS_MAX = 300_000;
const EVENTS_MAX = 5_000_000;

/** A cluster with a topology in it, and what a test does with time. */
export class SimulatedRun {
  readonly kernel: Kernel;
  readonly cluster: SimulatedCluster;
  readonly words: WordCount;
  readonly submitted: Promise<void>;

  constructor(
    words: WordCount,
    {
      seed = 1,
      submit,
      ...cluster
    }: { seed?: number; submit?: SubmitOptions } & Omit<SimulatedClusterOptions, 'kernel'> = {},
  ) {
    this.words = words;
    this.kernel = new Kernel({ seed });
    this.cluster = new SimulatedCluster({ kernel: this.kernel, ...cluster });
    this.submitted = this.cluster.submit(words.built, submit);
  }

  /** Runs until the condition holds; fails when it never does. */
  async until(condition: () => boolean): Promise<void> {
    const limits = { simulatedMsMax: SIMULATED_MS_MAX, eventsMax: EVENTS_MAX };
    const end = await this.kernel.run(condition, limits);
    if (end !== 'reached') assert.fail(`${end} came first\n${this.kernel.log.text.slice(-20_000)}`);
  }

  async advance(ms: number): Promise<void> {
    await this.kernel.advance(ms, EVENTS_MAX);
  }

  /** Runs until the promise has settled. */
  async settled<Value>(promise: Promise<Value>): Promise<Value> {
    let isSettled = false;
    const note = (): void => {
      isSettled = true;
    };
    promise.then(note, note);
    await this.until(() => isSettled);
    return promise;
  }

  /** Runs until so many tuples have been counted from now on. */
  async untilCounted(more: number): Promise<void> {
    const goal = this.words.counted() + more;
    await this.until(() => this.words.counted() >= goal);
  }
}
