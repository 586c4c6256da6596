import type { BuiltTopology } from '../../api/topology.ts';
import { topologyId } from '../../base/ids.ts';
import type { Random } from '../../base/random.ts';
import type { ConfigMap, LogicalTopology, TopologyState } from '../../model/logical-topology.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import { randomUuid } from '../../package/topology-id.ts';
import { createPacking } from '../../packing/create.ts';

/** A topology as a submit stores it, and what importing its module gives everywhere. */
export interface SubmittedTopology {
  readonly built: BuiltTopology;
  readonly topology: LogicalTopology;
  readonly packingPlan: PackingPlan;
}

export interface SubmitSettings {
  /** The module's own settings win over them. */
  readonly defaults: ConfigMap;
  /** Win over the module's own. */
  readonly config: ConfigMap;
  readonly state: TopologyState;
  readonly random: Random;
}

const MODULE_FILE = 'topology.mjs';

/** @throws EngineError INVALID_CONFIG when the topology cannot be packed. */
export function submittedTopology(
  built: BuiltTopology,
  { defaults, config, state, random }: SubmitSettings,
): SubmittedTopology {
  const declared = {
    ...built.topology,
    config: new Map([...defaults, ...built.topology.config, ...config]),
  };
  const topology: LogicalTopology = {
    ...declared,
    id: topologyId(`${declared.name}${randomUuid(random)}`),
    state,
    module: { file: MODULE_FILE, arguments: [] },
  };
  return {
    built: { ...built, topology: declared },
    topology,
    packingPlan: createPacking(topology.config).pack(topology).plan,
  };
}
