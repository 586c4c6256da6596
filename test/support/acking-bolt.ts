import { create, toBinary } from '@bufbuild/protobuf';
import { HeronTupleSetSchema, type RootId } from '../../src/wire/generated/tuple_pb.js';
import type { ScriptedInstance } from './scripted-instance.ts';
import { readTupleSet, tupleSetBytes } from './tuple-sets.ts';

/** A tuple as a bolt got it. */
interface Arrived {
  readonly key: bigint;
  readonly roots: readonly RootId[];
}

/** A scripted bolt that acks what it got when the test says so. */
export class AckingBolt {
  readonly instance: ScriptedInstance;
  readonly #task: number;
  /** Sets up to this one have been acked. */
  #acked = 0;

  constructor(instance: ScriptedInstance, task: number) {
    this.instance = instance;
    this.#task = task;
  }

  /** Acks everything that has come and is not acked yet, one by one; returns how much that was. */
  ackAll(): number {
    const arrived = this.#takeArrived();
    const acks = arrived.map(({ key, roots }) => ({ roots: [...roots], ackedtuple: key }));
    if (acks.length === 0) return 0;
    const set = create(HeronTupleSetSchema, { srcTaskId: this.#task, control: { acks } });
    this.instance.sendSet(toBinary(HeronTupleSetSchema, set));
    return acks.length;
  }

  /** Its last tuple has been sent. */
  end(): void {
    this.instance.sendSet(tupleSetBytes({ task: this.#task, endOfInput: true }));
  }

  #takeArrived(): readonly Arrived[] {
    const sets = this.instance.sets.slice(this.#acked);
    this.#acked = this.instance.sets.length;
    return sets.flatMap((set) => readTupleSet(set).data?.tuples ?? []);
  }
}

/** Keys of the trees of a spout that were acked and that failed, each as often as it was told. */
export function settledKeys({ controls }: ScriptedInstance) {
  const keysOf = (tuples: readonly { readonly roots: readonly RootId[] }[]): bigint[] =>
    tuples.flatMap(({ roots }) => roots.map(({ key }) => key));
  return {
    acked: controls.flatMap(({ acks }) => keysOf(acks)),
    failed: controls.flatMap(({ fails }) => keysOf(fails)),
  };
}
