import assert from 'node:assert/strict';
import { attach } from '../../src/api/component-runtime.ts';
import { type FileSourceOptions, fileSource } from '../../src/api/index.ts';
import { TopologyContext } from '../../src/api/topology-context.ts';
import {
  componentName,
  containerId,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  taskId,
} from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSeededRandom } from '../../src/base/random.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { anAddress } from './placements.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingCollector } from './recording-collector.ts';
import { FAILED } from './replayed-spout.ts';
import { settled } from './settled.ts';
import { SourceDisk } from './source-disk.ts';
import { anOutput, aSpout, aTopology } from './topologies.ts';

/** A task in a plan: its number, its index, and perhaps that it goes away or where it is. */
export interface PlannedTask {
  readonly task: number;
  readonly index: number;
  readonly isRetiring?: boolean;
  /** 1 unless given. */
  readonly container?: number;
}

/** Tasks with the indexes 0, 1, …, in container 1. */
export function tasksInOrder(...tasks: readonly number[]): readonly PlannedTask[] {
  return tasks.map((task, index) => ({ task, index }));
}

function planOf(tasks: readonly PlannedTask[], number: number, topologyId: string): PlanIndex {
  const component = componentName('lines');
  const topology = aTopology([aSpout('lines', { outputs: [anOutput(['line'])] })]);
  const containers = new Set(tasks.map(({ container = 1 }) => container));
  return new PlanIndex({
    epoch: epoch(number),
    topology: { ...topology, id: topologyId as never },
    streamManagers: [...containers].map((container) => anAddress(container)),
    instances: tasks.map(({ task, index, isRetiring, container = 1 }) => ({
      id: instanceIdOf(containerId(container), component, taskId(task)),
      streamManager: streamManagerIdOf(containerId(container)),
      task: taskId(task),
      componentIndex: index,
      component,
      ...(isRetiring && { isRetiring }),
    })),
  });
}

const ROUNDS_MAX = 1_000;

/** The tasks of one file source on one disk, each as its instance would call it. */
export class FileSourceTasks {
  readonly disk = new SourceDisk();
  readonly clock = new ManualClock();
  readonly running = new Map<number, FileTask>();
  readonly warnings: string[] = [];
  topologyId = 'words-1';
  readonly #paths: readonly string[];
  readonly #options: FileSourceOptions;
  #plan: readonly PlannedTask[] = [];
  #planNumber = 0;
  #starts = 0;

  constructor(paths: readonly string[], options: FileSourceOptions = {}) {
    this.#paths = paths;
    this.#options = { files: this.disk, positions: '/positions', ...options };
  }

  /** Brings a plan into force, of which these tasks hear; all of them unless given. */
  async plan(tasks: readonly PlannedTask[], heardBy?: readonly number[]): Promise<void> {
    this.#plan = tasks;
    this.#planNumber += 1;
    for (const [task, one] of this.running) {
      if (heardBy === undefined || heardBy.includes(task)) await this.tell(one);
    }
  }

  /** Gives a task the plan that is in force. */
  async tell(task: FileTask): Promise<void> {
    task.source.plan = planOf(this.#plan, this.#planNumber, this.topologyId);
    await task.spout.update(task.context);
    await settled();
  }

  /** Starts a process for a task, over one that has not been closed. */
  async open(task: number): Promise<FileTask> {
    const one = new FileTask(task, {
      spout: fileSource(this.#paths, this.#options)(),
      plan: planOf(this.#plan, this.#planNumber, this.topologyId),
      clock: this.clock,
      seed: (this.#starts += 1),
      onWarning: (text) => this.warnings.push(text),
    });
    this.running.set(task, one);
    await one.spout.open(one.context);
    return one;
  }

  /** A call of `nextTuple` of each, and so much time. */
  async round(ms = 10): Promise<void> {
    for (const task of this.running.values()) await task.step();
    this.clock.advance(ms);
    await settled();
  }

  /** Rounds until it holds; fails the test when it does not come to hold. */
  async until(condition: () => boolean, ms = 10): Promise<void> {
    for (let round = 0; !condition(); round += 1) {
      assert.ok(round < ROUNDS_MAX, 'it does not come to hold');
      await this.round(ms);
    }
  }

  async rounds(count: number, ms = 10): Promise<void> {
    for (let round = 0; round < count; round += 1) await this.round(ms);
  }
}

interface FileTaskOptions {
  readonly spout: ReturnType<ReturnType<typeof fileSource>>;
  readonly plan: PlanIndex;
  readonly clock: ManualClock;
  readonly seed: number;
  readonly onWarning: (text: string) => void;
}

export class FileTask {
  readonly spout: ReturnType<ReturnType<typeof fileSource>>;
  readonly collector = new RecordingCollector();
  readonly context: TopologyContext;
  readonly source: { plan: PlanIndex };
  /** Ids of messages that have been emitted and not settled, by line. */
  readonly pending = new Map<string, unknown>();
  readonly lines: string[] = [];
  #taken = 0;

  constructor(task: number, { spout, plan, clock, seed, onWarning }: FileTaskOptions) {
    const source = {
      plan,
      task: taskId(task),
      log: { ...silentLogger, warn: (text: string) => onWarning(text) },
      clock,
      random: createSeededRandom(seed),
      workingDirectory: '/topology',
      registerMetric() {},
      every: () => ({ cancel() {} }),
      after: () => ({ cancel() {} }),
      addHook() {},
      wake() {},
    };
    this.spout = spout;
    this.source = source;
    this.context = new TopologyContext(source);
    attach(spout, this.collector, this.context);
  }

  get hasEnded(): boolean {
    return this.collector.ends > 0;
  }

  /** One call of `nextTuple`, unless its input has ended and it holds nothing. */
  async step(): Promise<void> {
    if (this.hasEnded && !this.spout.holdsMessages()) return;
    await this.spout.nextTuple();
    await settled();
    for (const { values, messageId } of this.collector.emitted.slice(this.#taken)) {
      const line = String(values[0]);
      this.lines.push(line);
      this.pending.set(line, messageId);
    }
    this.#taken = this.collector.emitted.length;
  }

  ack(...lines: readonly string[]): void {
    for (const line of lines.length > 0 ? lines : this.pending.keys()) {
      void this.spout.ack(this.pending.get(line));
      this.pending.delete(line);
    }
  }

  fail(line: string): void {
    void this.spout.fail(this.pending.get(line), FAILED);
    this.pending.delete(line);
  }
}
