/*
  Nanoseconds from a call of `emit` until the engine has the values in order, and to make and read a
  tuple. Left out: encoding, rings and sockets (bench/task.ts has those).

  Run: node bench/emit.ts
*/
import { attach, type Collector } from '../src/api/component-runtime.ts';
import { Bolt, Tuple } from '../src/api/index.ts';
import { type ContextSource, TopologyContext } from '../src/api/topology-context.ts';
import { TupleOrigin } from '../src/api/tuple.ts';
import { systemClock } from '../src/base/clock.ts';
import {
  componentName,
  containerId,
  DEFAULT_STREAM,
  epoch,
  instanceIdOf,
  streamManagerId,
  taskId,
  topologyId,
  topologyName,
} from '../src/base/ids.ts';
import { silentLogger } from '../src/base/logger.ts';
import { createSeededRandom } from '../src/base/random.ts';
import { PlanIndex } from '../src/model/plan-index.ts';

const CALLS = 2_000_000;
const ROUNDS = 7;
const NAME = componentName('bolt');

class Emitting extends Bolt.of({
  default: ['word'],
  pair: ['word', 'count'],
  wide: ['a', 'b', 'c', 'd'],
}) {
  execute(): void {}
}

/** Takes what is emitted and keeps a sum, so that nothing can be left out by the compiler. */
class Sum implements Collector {
  total = 0;
  emit(streamIndex: number, values: readonly unknown[]): void {
    this.total += streamIndex + values.length;
  }
  emitDirect(): void {}
  ack(): void {}
  fail(): void {}
  reportError(): void {}
  endOfInput(): void {}
  readonly inputEnded = false;
  async deadLetter(): Promise<void> {}
}

const bolt = new Emitting();
const sum = new Sum();
attach(bolt, sum, new TopologyContext(contextSource()));
const origin = new TupleOrigin(NAME, DEFAULT_STREAM, ['word', 'count']);
const task = taskId(1);
const values = ['word', 1];

const CASES: Readonly<Record<string, (i: number) => void>> = {
  'emit { word }': (i) => bolt.emit({ word: i }),
  'emit [word]': (i) => bolt.emit([i]),
  'emit { word, count } by stream': (i) => bolt.emit('pair', { word: i, count: i }),
  'emit { count, word } by stream': (i) => bolt.emit('pair', { count: i, word: i }),
  'emit [word, count] by stream': (i) => bolt.emit('pair', [i, i]),
  'emit four fields by stream': (i) => bolt.emit('wide', { a: i, b: i, c: i, d: i }),
  'make a tuple and get a field': () => {
    sum.total += new Tuple<{ count: number }>(origin, task, values).get('count');
  },
};

for (const [name, call] of Object.entries(CASES)) {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const start = systemClock.now();
    for (let i = 0; i < CALLS; i++) call(i);
    return ((systemClock.now() - start) * 1e6) / CALLS;
  }).toSorted((left, right) => left - right);
  const median = rounds[Math.floor(ROUNDS / 2)] ?? 0;
  console.log(`${name.padEnd(34)} ${median.toFixed(1).padStart(6)} ns`);
}
if (sum.total === 0) throw new Error('nothing was emitted');

function contextSource(): ContextSource {
  const manager = streamManagerId('stmgr-1');
  const config = new Map<string, string>();
  return {
    plan: new PlanIndex({
      epoch: epoch(1),
      topology: {
        id: topologyId('bench-1'),
        name: topologyName('bench'),
        state: 'RUNNING',
        config,
        components: [
          {
            kind: 'bolt',
            name: NAME,
            parallelism: 1,
            language: 'typescript',
            className: 'Emitting',
            config,
            outputs: [],
            inputs: [],
          },
        ],
      },
      streamManagers: [],
      instances: [
        {
          id: instanceIdOf(containerId(1), NAME, taskId(1)),
          streamManager: manager,
          task: taskId(1),
          componentIndex: 0,
          component: NAME,
        },
      ],
    }),
    task: taskId(1),
    log: silentLogger,
    clock: systemClock,
    random: createSeededRandom(1),
    workingDirectory: '/',
    registerMetric() {},
    every: () => ({ cancel() {} }),
    after: () => ({ cancel() {} }),
    addHook() {},
    wake() {},
  };
}
