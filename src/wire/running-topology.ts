import { clone, create } from '@bufbuild/protobuf';
import type { ComponentName } from '../base/ids.ts';
import { type RuntimeChange, runtimeKey } from '../model/runtime-config.ts';
import * as proto from './generated/topology_pb.js';
import { PARALLELISM_KEY, type TopologyMessage } from './topology.ts';

/*
  What changes in a topology while it runs. All of this works on messages and leaves everything else
  as it is, known or not (T2 in topology.ts).
*/

/**
 * With new values of config; runtime-config.ts says where they stand. The same message when it has
 * them already.
 */
export function withRuntimeConfig(
  message: TopologyMessage,
  changes: readonly RuntimeChange[],
): TopologyMessage {
  const isNew = changes.some(
    ({ component, key, value }) => textIn(configOf(message, component), runtimeKey(key)) !== value,
  );
  if (!isNew) return message;
  const copy = clone(proto.TopologySchema, message);
  for (const { component, key, value } of changes) {
    const owner = component === undefined ? undefined : componentOf(copy, component);
    const config = component === undefined ? topologyConfig(copy) : componentConfig(owner);
    if (config !== undefined) setText(config, runtimeKey(key), value);
  }
  return copy;
}

/** With another number of tasks of some components; the same message when nothing changes. */
export function withParallelism(
  message: TopologyMessage,
  tasks: ReadonlyMap<ComponentName, number>,
): TopologyMessage {
  const changed = [...tasks].filter(([name, count]) => {
    const text = textIn(configOf(message, name), PARALLELISM_KEY);
    return text !== undefined && text !== String(count);
  });
  if (changed.length === 0) return message;
  const copy = clone(proto.TopologySchema, message);
  for (const [name, count] of changed) {
    const config = componentOf(copy, name)?.config;
    if (config !== undefined) setText(config, PARALLELISM_KEY, String(count));
  }
  return copy;
}

function componentOf(
  { spouts, bolts }: TopologyMessage,
  name: ComponentName,
): proto.Component | undefined {
  return [...spouts, ...bolts].find(({ comp }) => comp?.name === name)?.comp;
}

function configOf(
  message: TopologyMessage,
  component: ComponentName | undefined,
): proto.Config | undefined {
  return component === undefined ? message.topologyConfig : componentOf(message, component)?.config;
}

/** As topology.ts reads it: the last entry counts. */
function textIn(config: proto.Config | undefined, key: string): string | undefined {
  return config?.kvs.findLast((entry) => entry.key === key)?.value;
}

function topologyConfig(message: TopologyMessage): proto.Config {
  message.topologyConfig ??= create(proto.ConfigSchema);
  return message.topologyConfig;
}

function componentConfig(component: proto.Component | undefined): proto.Config | undefined {
  if (component === undefined) return undefined;
  component.config ??= create(proto.ConfigSchema);
  return component.config;
}

function setText(config: proto.Config, key: string, value: string): void {
  const found = config.kvs.findLast((entry) => entry.key === key);
  if (found !== undefined) {
    found.value = value;
    return;
  }
  const type = proto.ConfigValueType.STRING_VALUE;
  config.kvs.push(create(proto.Config_KeyValueSchema, { key, value, type }));
}
