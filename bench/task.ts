/*
  Nanoseconds a tuple costs the task's thread: encode inside emit, and read, decode and execute.
  One thread does both in turn, through a real ring; nothing is sent.

      npm run bench -- task
*/
import { BasicBolt, Spout, topology, type Tuple } from '../src/api/index.ts';
import { systemClock } from '../src/base/clock.ts';
import {
  componentName,
  containerId,
  epoch,
  instanceIdOf,
  streamManagerId,
  taskId,
  topologyId,
} from '../src/base/ids.ts';
import { MetricsRegistry } from '../src/metrics/metrics-registry.ts';
import { PlanIndex } from '../src/model/plan-index.ts';
import { createRingMemory, RingReader, RingWriter } from '../src/ring/byte-ring.ts';
import { Doorbell } from '../src/ring/doorbell.ts';
import { StreamHeaders } from '../src/wire/stream-header.ts';
import { BoltRunner } from '../src/instance/task/bolt-runner.ts';
import { EndTracker } from '../src/instance/task/end-tracker.ts';
import { TaskCounters } from '../src/instance/task/task-counters.ts';
import { TupleInput } from '../src/instance/task/tuple-input.ts';
import { TupleOutput } from '../src/instance/task/tuple-output.ts';
import { TaskCollector } from '../src/instance/task/task-collector.ts';
import { UserCalls } from '../src/instance/task/user-calls.ts';
import { createTaskStatusMemory, TaskStatusWriter } from '../src/instance/task-status.ts';
import { attach } from '../src/api/component-runtime.ts';
import { wordList } from './word-count/words.ts';

class Words extends Spout.of({ default: ['word'] }) {
  override nextTuple(): void {}
}
class Lengths extends BasicBolt.of({}) {
  sum = 0;
  override execute(tuple: Tuple<{ word: string }>): void {
    this.sum += tuple.get('word').length;
  }
}
class Count extends BasicBolt.of({}) {
  readonly counts = new Map<string, number>();
  override execute(tuple: Tuple<{ word: string }>): void {
    const word = tuple.get('word');
    this.counts.set(word, (this.counts.get(word) ?? 0) + 1);
  }
}
const built = topology('bench', (builder) => {
  const words = builder.setSpout('words', () => new Words());
  builder.setBolt('count', () => new Lengths()).fieldsGrouping(words, 'word');
}).build();
const stmgr = streamManagerId('stmgr-1');
const task = (name: string, n: number) => ({
  id: instanceIdOf(containerId(1), componentName(name), taskId(n)),
  streamManager: stmgr,
  task: taskId(n),
  componentIndex: 0,
  component: componentName(name),
});
const plan = new PlanIndex({
  epoch: epoch(1),
  topology: { ...built.topology, id: topologyId('bench1'), state: 'RUNNING' },
  streamManagers: [],
  instances: [task('words', 1), task('count', 2)],
});

const bell = new Doorbell();
const other = new Doorbell();
const memory = createRingMemory(2 << 20);
const writer = new RingWriter(memory, bell, other);
const reader = new RingReader(memory, bell);
const status = new TaskStatusWriter(createTaskStatusMemory());
const counters = new TaskCounters(new MetricsRegistry());
const output = new TupleOutput({
  ring: writer,
  task: taskId(1),
  headers: [new StreamHeaders().of(componentName('words'), 'default' as never)],
  tupleBytesMax: 1 << 20,
  roomWait: {
    wait() {
      throw new Error('full');
    },
  },
  clock: systemClock,
  sendLargeSet() {},
});
output.attended = true;
const collector = new TaskCollector({
  output,
  streams: [{ isRead: true, emitCount: counters.emitted('default' as never) }],
  counters,
  onError() {},
  onEndOfInput() {},
});
const spout = new Words();
attach(spout, collector, { componentName: componentName('words') } as never);
const words = wordList(Number(process.argv[2] ?? 10_000));
for (const bolt of [new Lengths(), new Count()]) {
  const runner = new BoltRunner({
    bolt,
    survivesFailures: true,
    calls: new UserCalls({} as never, status),
    ring: reader,
    bell: other,
    input: new TupleInput(plan, counters),
    output: new TupleOutput({
      ring: new RingWriter(createRingMemory(1 << 20), bell, other),
      task: taskId(2),
      headers: [],
      tupleBytesMax: 1,
      roomWait: { wait() {} },
      clock: systemClock,
      sendLargeSet() {},
    }),
    ends: new EndTracker([taskId(1)]),
    status,
    clock: systemClock,
    onFailure: (e) => console.log(e),
  });
  const done = runner.run();
  let at = 0;
  const N = 50_000;
  const encodes: number[] = [];
  const executes: number[] = [];
  for (let round = 0; round < 60; round += 1) {
    const t0 = performance.now();
    for (let i = 0; i < N; i += 1) {
      spout.emit({ word: words[(at = (at + 7919) % words.length)] as string });
    }
    output.flush();
    const t1 = performance.now();
    while (reader.hasNext()) await new Promise<void>((r) => setImmediate(r));
    const t2 = performance.now();
    if (round >= 20) {
      encodes.push(((t1 - t0) * 1e6) / N);
      executes.push(((t2 - t1) * 1e6) / N);
    }
  }
  const median = (a: number[]) => a.sort((x, y) => x - y)[a.length >> 1]?.toFixed(0);
  console.log(
    bolt.constructor.name,
    'emit',
    median(encodes),
    'ns; execute',
    median(executes),
    'ns',
  );
  runner.stop();
  await done;
}
