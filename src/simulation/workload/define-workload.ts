import type { BoltDeclarer } from '../../api/bolt-declarer.ts';
import type { Source } from '../../api/source.ts';
import type { StreamDeclarations } from '../../api/streams.ts';
import type { BoltOptions, TopologyBuilder } from '../../api/topology-builder.ts';
import { unreachable } from '../../base/assert.ts';
import { userError } from '../../base/errors.ts';
import { Settings } from '../../model/settings.ts';
import { boltClass } from './workload-bolt.ts';
import { WorkloadGrouping } from './task-choice.ts';
import {
  type BoltDescription,
  type InputDescription,
  isAtLeastOnce,
  type WorkloadDescription,
} from './workload-description.ts';
import { spoutClass } from './workload-spout.ts';
import type { WorkloadSurroundings } from './workload-task.ts';

type AnySource = Source<StreamDeclarations>;
type AnyDeclarer = BoltDeclarer<StreamDeclarations, Record<string, unknown>>;

/** Describes a workload's topology to a builder, as a user's module does. */
export function defineWorkload(
  builder: TopologyBuilder,
  plan: WorkloadDescription,
  surroundings: WorkloadSurroundings,
): void {
  const allStreams = new Map(
    [...plan.spouts, ...plan.bolts].flatMap(({ name, streams }) =>
      streams.map((stream) => [`${name} ${stream.name}`, stream] as const),
    ),
  );
  const directReaders = directReadersOf(plan);
  const shared = { ...surroundings, allStreams, directReaders, pendingMax: pendingMaxOf(plan) };
  builder.setConfig({ 'topology.stmgrs': plan.containers, ...plan.config });
  const sources = new Map<string, AnySource>();
  for (const spout of plan.spouts) {
    const Made = spoutClass(spout, shared);
    const { parallelism } = spout;
    sources.set(
      spout.name,
      builder.setSpout(spout.name, () => new Made(), { parallelism }),
    );
  }
  for (const bolt of plan.bolts) {
    const Made = boltClass(bolt, shared);
    // What a class made at run time reads and emits is unknown to the compiler.
    const declarer = builder.setBolt(
      bolt.name,
      () => new Made(),
      optionsOf(bolt),
    ) as unknown as AnyDeclarer;
    for (const input of bolt.inputs) addInput(declarer, sourceOf(sources, input), input);
    sources.set(bolt.name, declarer);
  }
}

function pendingMaxOf(plan: WorkloadDescription): number | undefined {
  const settings = new Settings(new Map(Object.entries(plan.config)));
  return isAtLeastOnce(plan) ? settings.get('topology.max.spout.pending') : undefined;
}

function optionsOf({ parallelism, concurrency, tickMs }: BoltDescription): BoltOptions {
  return {
    parallelism,
    ...(concurrency && { concurrency: concurrency.count, order: concurrency.order }),
    ...(tickMs !== undefined && { config: { 'topology.tick.tuple.freq.ms': tickMs } }),
  };
}

/** By `component stream`: the bolt that reads it by direct grouping (D4). */
function directReadersOf({ bolts }: WorkloadDescription): ReadonlyMap<string, string> {
  return new Map(
    bolts.flatMap(({ name, inputs }) =>
      inputs
        .filter(({ grouping }) => grouping.kind === 'direct')
        .map(({ component, stream }) => [`${component} ${stream}`, name] as const),
    ),
  );
}

function sourceOf(sources: ReadonlyMap<string, AnySource>, input: InputDescription): AnySource {
  const source = sources.get(input.component);
  if (source !== undefined) return source;
  throw userError('INVALID_TOPOLOGY', `no component '${input.component}' stands before its reader`);
}

function addInput(
  declarer: AnyDeclarer,
  source: AnySource,
  { stream, grouping }: InputDescription,
): void {
  switch (grouping.kind) {
    case 'shuffle':
      declarer.shuffleGrouping(source, stream);
      return;
    case 'all':
      declarer.allGrouping(source, stream);
      return;
    case 'global':
      declarer.globalGrouping(source, stream);
      return;
    case 'none':
      declarer.noneGrouping(source, stream);
      return;
    case 'local-or-shuffle':
      declarer.localOrShuffleGrouping(source, stream);
      return;
    case 'direct':
      declarer.directGrouping(source, stream);
      return;
    case 'custom':
      declarer.customGrouping(source, () => new WorkloadGrouping(grouping.copies), stream);
      return;
    case 'fields':
      declarer.fieldsGrouping(source, grouping.fields, stream);
      return;
    default:
      unreachable(grouping);
  }
}
