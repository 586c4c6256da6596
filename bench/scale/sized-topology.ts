import { BasicBolt, fields, Spout, topology } from '../../src/api/index.ts';
import type { BuiltTopology } from '../../src/api/topology.ts';
import { type ContainerId, streamManagerIdOf } from '../../src/base/ids.ts';
import type { LogicalTopology } from '../../src/model/logical-topology.ts';
import type { PackingPlan } from '../../src/model/packing-plan.ts';
import type { StreamManagerAddress } from '../../src/model/physical-plan.ts';
import { submittedTopology } from '../../src/simulation/cluster/submitted-topology.ts';
import { NamedRandom } from '../../src/simulation/kernel/named-random.ts';

/*
  A word count with ten instances a container: two spout tasks, four that split, four that count.
  Its spouts stay silent: what is measured is what a topology costs before its first tuple.
*/

export const INSTANCES_PER_CONTAINER = 10;
/** No component that reads by fields may have more tasks than there are key groups. */
const KEY_GROUPS_DEFAULT = 1024;

export interface SizedTopology {
  readonly containers: number;
  readonly built: BuiltTopology;
  readonly topology: LogicalTopology;
  readonly packing: PackingPlan;
}

class Sentences extends Spout.of({ default: fields<{ sentence: string }>()('sentence') }) {
  override nextTuple(): void {}
}

class Split extends BasicBolt.of({ default: fields<{ word: string }>()('word') }) {
  override execute(): void {}
}

class Count extends BasicBolt.of({}) {
  override execute(): void {}
}

export function sizedTopology(containers: number): SizedTopology {
  const built = topology('words', (builder) => {
    builder.setConfig({
      'topology.stmgrs': containers,
      'topology.key.groups': Math.max(KEY_GROUPS_DEFAULT, 4 * containers),
    });
    const sentences = builder.setSpout('sentences', () => new Sentences(), {
      parallelism: 2 * containers,
    });
    const words = builder
      .setBolt('split', () => new Split(), { parallelism: 4 * containers })
      .shuffleGrouping(sentences);
    builder
      .setBolt('count', () => new Count(), { parallelism: 4 * containers })
      .fieldsGrouping(words, 'word');
  }).build();
  const { topology: submitted, packingPlan } = submittedTopology(built, {
    defaults: new Map(),
    config: new Map(),
    state: 'RUNNING',
    random: new NamedRandom(1).of('submit'),
  });
  return { containers, built, topology: submitted, packing: packingPlan };
}

/** As a stream manager of a usual cluster registers; every container has a host of its own. */
export function addressOf(container: ContainerId, dataPort = 20_000): StreamManagerAddress {
  return {
    id: streamManagerIdOf(container),
    host: `worker-${container}.example.net`,
    dataPort,
    localDataPort: dataPort + 1,
    workingDirectory: `/home/someone/.heron-ts/topologies/words/containers/${container}`,
    pid: 10_000 + container,
    shellPort: dataPort + 2,
  };
}
