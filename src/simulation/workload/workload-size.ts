import type {
  BoltDescription,
  GroupingDescription,
  InputDescription,
  SpoutDescription,
  WorkloadDescription,
} from './workload-description.ts';

/*
  How much a workload will do, worked out beforehand: what spouts read and bolts multiply is kept
  within a budget. Exact for a run in which nothing fails.
*/

export interface WorkloadSize {
  /** Calls of `execute` over all tasks. */
  readonly executions: number;
  /** Tuples that are emitted, whether anybody reads them or not. */
  readonly emits: number;
  /** Bytes of payload that bolts receive. */
  readonly payloadBytes: number;
}

export function sizeOf({
  spouts,
  bolts,
}: Pick<WorkloadDescription, 'spouts' | 'bolts'>): WorkloadSize {
  const flow = new Flow();
  for (const spout of spouts) flow.addSpout(spout);
  for (const bolt of bolts) flow.addBolt(bolt);
  return flow;
}

/** How many tasks of a bolt get each tuple. */
function copiesOf(grouping: GroupingDescription, parallelism: number): number {
  if (grouping.kind === 'custom') return Math.min(grouping.copies, parallelism);
  return grouping.kind === 'all' ? parallelism : 1;
}

class Flow implements WorkloadSize {
  executions = 0;
  emits = 0;
  payloadBytes = 0;
  /** By `component stream`: tuples, and bytes of each on average. */
  readonly #streams = new Map<string, { readonly tuples: number; readonly bytes: number }>();

  addSpout({ name, parallelism, streams, tuples }: SpoutDescription): void {
    // They go to the streams in turn, from the second one on.
    streams.forEach((stream, at) => {
      const ofTask = Math.floor((tuples - at) / streams.length) + (at === 0 ? 0 : 1);
      this.#emit(name, [stream], parallelism * Math.max(0, ofTask));
    });
  }

  addBolt(bolt: BoltDescription): void {
    const { name, parallelism, streams, inputs, fanOut, emitsInFinish } = bolt;
    let executions = 0;
    for (const input of inputs) executions += this.#read(input, parallelism);
    this.executions += executions;
    this.#emit(name, streams, executions * fanOut + parallelism * emitsInFinish);
  }

  #read({ component, stream, grouping }: InputDescription, parallelism: number): number {
    const source = this.#streams.get(`${component} ${stream}`);
    if (source === undefined) return 0;
    const copies = source.tuples * copiesOf(grouping, parallelism);
    this.payloadBytes += copies * source.bytes;
    return copies;
  }

  #emit(name: string, streams: SpoutDescription['streams'], tuples: number): void {
    for (const stream of streams) {
      const bytes = stream.payloadBytes.reduce((sum, size) => sum + size, 0);
      this.emits += tuples;
      this.#streams.set(`${name} ${stream.name}`, {
        tuples,
        bytes: bytes / Math.max(1, stream.payloadBytes.length),
      });
    }
  }
}
