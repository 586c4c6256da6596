import type { PhysicalPlanMessage } from '../wire/physical-plan.ts';
import type { TopologyMessage } from '../wire/topology.ts';

type Config = NonNullable<TopologyMessage['topologyConfig']>;

/** Keys with this ending were set while the topology ran; they win over the same key without it. */
const RUNTIME_SUFFIX = ':runtime';

/**
 * The plan that instances get: its topology replaced by the one of the `.defn` file, whose
 * components still hold the serialized objects that Heron leaves out of stored plans. Life-cycle
 * state and run-time settings stay the plan's. Works on messages, so that nothing foreign gets
 * lost.
 */
export function hydratePlan(
  plan: PhysicalPlanMessage,
  definition: TopologyMessage,
): PhysicalPlanMessage {
  const received = plan.topology;
  if (received === undefined) return plan;
  const configs = new Map<string, Config | undefined>(
    [...received.spouts, ...received.bolts].flatMap(({ comp }) =>
      comp === undefined ? [] : [[comp.name, comp.config]],
    ),
  );
  const hydrate = <Part extends Spout | Bolt>(part: Part): Part => {
    const { comp } = part;
    if (comp?.config === undefined) return part;
    const config = withRuntimeSettings(comp.config, configs.get(comp.name));
    return { ...part, comp: { ...comp, config } };
  };
  const { topologyConfig } = definition;
  const topology: TopologyMessage = {
    ...definition,
    state: received.state,
    spouts: definition.spouts.map(hydrate),
    bolts: definition.bolts.map(hydrate),
    ...(topologyConfig && {
      topologyConfig: withRuntimeSettings(topologyConfig, received.topologyConfig),
    }),
  };
  return { ...plan, topology };
}

type Spout = TopologyMessage['spouts'][number];
type Bolt = TopologyMessage['bolts'][number];

function withRuntimeSettings(own: Config, received: Config | undefined): Config {
  const settings = received?.kvs.filter(({ key }) => key.endsWith(RUNTIME_SUFFIX)) ?? [];
  if (settings.length === 0) return own;
  const replaced = new Set(settings.map(({ key }) => key));
  return { ...own, kvs: [...own.kvs.filter(({ key }) => !replaced.has(key)), ...settings] };
}
