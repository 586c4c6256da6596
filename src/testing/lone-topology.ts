import { BasicBolt } from '../api/basic-bolt.ts';
import {
  type AnyBolt,
  type AnyComponent,
  type AnySpout,
  streamsOf,
} from '../api/component-runtime.ts';
import { Spout } from '../api/spout.ts';
import type { StreamDeclarations } from '../api/streams.ts';
import { type BuiltTopology, topology } from '../api/topology.ts';
import type { Source } from '../api/source.ts';
import type { TopologyBuilder } from '../api/topology-builder.ts';
import type { ComponentTestOptions } from './component-in-test.ts';
import { withKitConfig } from './kit-config.ts';

/*
  The topology around a component that is tested alone: sources whose tuples the test makes up, and
  a sink for what it emits, so that all of it is encoded as in any other topology.
*/

/** What a bolt reads from where its test does not say. */
export const DEFAULT_SOURCE = 'input';

/** A bolt has to read something to be valid. */
const NO_INPUT: ReadonlyMap<string, StreamDeclarations> = new Map([
  [DEFAULT_SOURCE, { default: [] }],
]);

export interface LoneTopology {
  readonly built: BuiltTopology;
  /** The streams that the component declares. */
  readonly streams: readonly string[];
}

export function boltAlone(
  name: string,
  factory: () => AnyBolt,
  inputs: ReadonlyMap<string, StreamDeclarations>,
  options: ComponentTestOptions,
): LoneTopology {
  return build(name, options, (builder) => {
    let made: AnyBolt | undefined;
    const bolt = builder.setBolt(name, () => (made = factory()), componentOptions(options));
    for (const [source, streams] of inputs.size === 0 ? NO_INPUT : inputs) {
      const spout: Source<StreamDeclarations> = builder.setSpout(source, silentSpout(streams));
      for (const stream of Object.keys(streams)) {
        bolt.shuffleGrouping(spout as never, stream as never);
      }
    }
    return { source: bolt, made };
  });
}

export function spoutAlone(
  name: string,
  factory: () => AnySpout,
  options: ComponentTestOptions,
): LoneTopology {
  return build(name, options, (builder) => {
    let made: AnySpout | undefined;
    const source = builder.setSpout(name, () => (made = factory()), componentOptions(options));
    return { source, made };
  });
}

interface Added {
  readonly source: Source<StreamDeclarations>;
  /** What the factory made for the builder. */
  readonly made: AnyComponent | undefined;
}

function build(
  name: string,
  { topologyConfig = {}, directReaders = {} }: ComponentTestOptions,
  add: (builder: TopologyBuilder) => Added,
): LoneTopology {
  let streams: readonly string[] = [];
  const built = topology(`${name}-in-test`, (builder) => {
    builder.setConfig(topologyConfig);
    const { source, made } = add(builder);
    streams = streamsOf(made ?? {}).map(({ stream }) => stream);
    const direct = Object.entries(directReaders).flatMap(([stream, readers]) =>
      Object.entries(readers).map(([reader, tasks]) => ({ stream, reader, tasks })),
    );
    for (const { stream, reader, tasks } of direct) {
      const declarer = builder.setBolt(reader, () => new Sink(), { parallelism: tasks });
      declarer.directGrouping(source, stream);
    }
    const others = streams.filter((stream) => directReaders[stream] === undefined);
    if (others.length === 0) return;
    const sink = builder.setBolt(`${name}-sink`, () => new Sink());
    for (const stream of others) sink.allGrouping(source, stream);
  }).build();
  return { built: withKitConfig(built), streams };
}

function componentOptions({ parallelism = 1, config = {} }: ComponentTestOptions) {
  return { parallelism, config };
}

function silentSpout(streams: StreamDeclarations): () => AnySpout {
  return () =>
    new (class extends Spout.of(streams) {
      nextTuple(): void {}
    })();
}

class Sink extends BasicBolt {
  execute(): void {}
}
