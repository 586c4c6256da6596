import { BasicBolt } from '../../api/basic-bolt.ts';
import { Bolt } from '../../api/bolt.ts';
import type { AnyBolt } from '../../api/component-runtime.ts';
import { isTick } from '../../api/tick.ts';
import type { TopologyContext } from '../../api/topology-context.ts';
import type { AnyTuple } from '../../api/tuple.ts';
import { AckingWork, type SettlingPorts } from './acking-work.ts';
import { BoltWork } from './bolt-work.ts';
import { fieldsOf } from './stream-fields.ts';
import type { BoltDescription } from './workload-description.ts';
import type { WorkloadTaskOptions } from './workload-task.ts';

type Surroundings = Omit<WorkloadTaskOptions, 'send' | 'streams' | 'faults'>;

/** A bolt class of a workload. */
export function boltClass(
  description: BoltDescription,
  surroundings: Surroundings,
): new () => AnyBolt {
  return description.base === 'basic'
    ? basicBoltClass(description, surroundings)
    : plainBoltClass(description, surroundings);
}

function basicBoltClass(
  description: BoltDescription,
  surroundings: Surroundings,
): new () => AnyBolt {
  class WorkloadBasicBolt extends BasicBolt.of(fieldsOf(description.streams)) {
    readonly #work = new BoltWork(description, {
      ...surroundings,
      ...description,
      send: ({ stream, values, task }) => {
        if (task === undefined) this.emit(stream, values);
        else this.emitDirect(task, stream, values);
      },
    });

    readonly #acking = ackingWork(description, this.#work);

    override prepare(context: TopologyContext): void {
      this.#work.task.open(context);
    }

    execute(tuple: AnyTuple): void | Promise<void> {
      return (this.#acking ?? this.#work).execute(tuple);
    }

    override tick(): void {
      this.#work.tick();
    }

    override update(): void {
      this.#work.task.look();
    }

    override finish(): Promise<void> {
      return this.#work.finish();
    }

    override cleanup(): void {
      this.#work.cleanup();
    }
  }
  return WorkloadBasicBolt;
}

function plainBoltClass(
  description: BoltDescription,
  surroundings: Surroundings,
): new () => AnyBolt {
  class WorkloadBolt extends Bolt.of(fieldsOf(description.streams)) {
    readonly #work = new BoltWork(description, {
      ...surroundings,
      ...description,
      send: ({ stream, values, parents, task }) => {
        if (task === undefined) this.emit(stream, values, parents);
        else this.emitDirect(task, stream, values, parents);
      },
    });
    readonly #acking = ackingWork(description, this.#work, {
      ack: (tuple) => this.ack(tuple),
      fail: (tuple, reason) => this.fail(tuple, reason),
    });

    override prepare(context: TopologyContext): void {
      this.#work.task.open(context);
    }

    /** Has no method `tick`: ticks come here. */
    execute(tuple: AnyTuple): void | Promise<void> {
      if (isTick(tuple)) {
        this.#work.tick();
        return undefined;
      }
      if (this.#acking !== undefined) return this.#acking.execute(tuple);
      const working = this.#work.execute(tuple);
      if (working !== undefined) return working.then(() => this.ack(tuple));
      this.ack(tuple);
      return undefined;
    }

    override update(): void {
      this.#work.task.look();
    }

    override finish(): Promise<void> {
      this.#acking?.flush();
      return this.#work.finish();
    }

    override cleanup(): void {
      this.#work.cleanup();
    }
  }
  return WorkloadBolt;
}

/** Undefined for a bolt of a workload that runs at most once. */
function ackingWork(
  description: BoltDescription,
  work: BoltWork,
  ports?: SettlingPorts,
): AckingWork | undefined {
  const { acking } = description;
  return acking && new AckingWork(work, { ...description, acking }, ports);
}
