import assert from 'node:assert/strict';
import { BasicBolt } from '../../src/api/basic-bolt.ts';
import { Bolt } from '../../src/api/bolt.ts';
import type { TopologyContext } from '../../src/api/topology-context.ts';
import type { AnyTuple } from '../../src/api/tuple.ts';
import type { TrackedTask } from './tracked-task.ts';

/** Keeps what it receives; the test acks and emits. */
export class Holder extends Bolt.of({ default: ['word'], unread: ['word'] }) {
  readonly received: AnyTuple[] = [];
  executeOne: (tuple: AnyTuple) => unknown = () => undefined;

  override execute(tuple: AnyTuple): void {
    this.received.push(tuple);
    return this.executeOne(tuple) as undefined;
  }

  at(index: number): AnyTuple {
    return this.received[index] ?? assert.fail(`it has received ${this.received.length}`);
  }
}

/** Emits its word and does what the test says. */
export class Passing extends BasicBolt.of({ default: ['word'], unread: ['word'] }) {
  executeOne: (tuple: AnyTuple, self: this) => unknown = (tuple) => this.emit([tuple.values[0]]);
  context: TopologyContext | undefined;
  onTick: (() => void) | undefined;

  override prepare(context: TopologyContext): void {
    this.context = context;
  }
  override execute(tuple: AnyTuple): void {
    return this.executeOne(tuple, this) as undefined;
  }
  override tick(): void {
    this.onTick?.();
  }
}

/** The task has to do something before it flushes what was asked for from outside. */
export async function sent(task: TrackedTask): Promise<string[]> {
  await task.turn();
  return task.takeSent();
}
