import { clone, create, isFieldSet } from '@bufbuild/protobuf';
import { assert, assertDefined, unreachable } from '../base/assert.ts';
import { componentName, streamName, topologyId, topologyName } from '../base/ids.ts';
import type {
  BoltComponent,
  Component,
  ComponentLanguage,
  ConfigMap,
  Grouping,
  InputStream,
  LogicalTopology,
  OutputStream,
  SpoutComponent,
  TopologyState,
} from '../model/logical-topology.ts';
import * as proto from './generated/topology_pb.js';
import { malformed, readNode } from './malformed.ts';
import { StoredTopology } from './messages.ts';

/*
  LogicalTopology ⇄ heron.proto.api.Topology, the content of a .defn file and of topologies/<name>.

  T1. The message of a topology of this package holds all that the model holds, and back.
  T2. The message of a foreign topology holds more: serialized objects and settings, the code of
      custom groupings. The model leaves those out, so whoever passes such a topology on works on
      the message (`withState`), never on message → model → message.
*/

/** A topology as it is stored and sent. */
export type TopologyMessage = proto.Topology;

/** Of a component; the wire keeps it among the settings, the model apart from them. */
export const PARALLELISM_KEY = 'topology.component.parallelism';

const STATES: Readonly<Record<TopologyState, proto.TopologyState>> = {
  RUNNING: proto.TopologyState.RUNNING,
  PAUSED: proto.TopologyState.PAUSED,
  KILLED: proto.TopologyState.KILLED,
};

const GROUPINGS: Readonly<Record<Grouping['kind'], proto.Grouping>> = {
  shuffle: proto.Grouping.SHUFFLE,
  fields: proto.Grouping.FIELDS,
  all: proto.Grouping.ALL,
  global: proto.Grouping.LOWEST,
  none: proto.Grouping.NONE,
  // Heron has no name for it: its stream managers shuffle.
  'local-or-shuffle': proto.Grouping.SHUFFLE,
  direct: proto.Grouping.DIRECT,
  custom: proto.Grouping.CUSTOM,
};

const GROUPING_KINDS: Readonly<Record<proto.Grouping, Grouping['kind']>> = {
  [proto.Grouping.SHUFFLE]: 'shuffle',
  [proto.Grouping.FIELDS]: 'fields',
  [proto.Grouping.ALL]: 'all',
  [proto.Grouping.LOWEST]: 'global',
  [proto.Grouping.NONE]: 'none',
  [proto.Grouping.DIRECT]: 'direct',
  [proto.Grouping.CUSTOM]: 'custom',
};

const LANGUAGES: readonly ComponentLanguage[] = ['typescript', 'java', 'python', 'cpp'];

const SPEC_LANGUAGES: Readonly<Record<proto.ComponentObjectSpec, ComponentLanguage>> = {
  [proto.ComponentObjectSpec.JAVA_CLASS_NAME]: 'java',
  [proto.ComponentObjectSpec.JAVA_SERIALIZED_OBJECT]: 'java',
  [proto.ComponentObjectSpec.PYTHON_CLASS_NAME]: 'python',
  [proto.ComponentObjectSpec.CPP_CLASS_INFO]: 'cpp',
};

export function encodeTopology(topology: LogicalTopology): Uint8Array {
  return StoredTopology.encode(topologyToMessage(topology));
}

/** @throws EngineError with code STATE_CORRUPTED. */
export function decodeTopology(bytes: Uint8Array): LogicalTopology {
  return readNode('topology', () => topologyFromMessage(StoredTopology.decode(bytes)));
}

/** The same topology in another state; all else, known or not, stays as it is. */
export function withState(message: TopologyMessage, state: TopologyState): TopologyMessage {
  const copy = clone(proto.TopologySchema, message);
  copy.state = STATES[state];
  return copy;
}

export function topologyToMessage(topology: LogicalTopology): TopologyMessage {
  const { module, components } = topology;
  return create(proto.TopologySchema, {
    id: topology.id,
    name: topology.name,
    spouts: components.filter((component) => component.kind === 'spout').map(spoutToMessage),
    bolts: components.filter((component) => component.kind === 'bolt').map(boltToMessage),
    state: STATES[topology.state],
    topologyConfig: configToMessage(topology.config),
    ...(module && { moduleFile: module.file, moduleArguments: [...module.arguments] }),
  });
}

/** @throws EngineError with code PACKET_MALFORMED. */
export function topologyFromMessage(message: TopologyMessage): LogicalTopology {
  const { moduleFile: file, moduleArguments } = message;
  const hasModule = isFieldSet(message, proto.TopologySchema.field.moduleFile);
  return {
    id: topologyId(message.id),
    name: topologyName(message.name),
    state: proto.TopologyState[message.state] as TopologyState,
    config: configFromMessage(message.topologyConfig),
    components: [...message.spouts.map(spoutFromMessage), ...message.bolts.map(boltFromMessage)],
    ...(hasModule && { module: { file, arguments: moduleArguments } }),
  };
}

function spoutToMessage(spout: SpoutComponent): proto.Spout {
  return create(proto.SpoutSchema, {
    comp: componentToMessage(spout),
    outputs: spout.outputs.map((output) => outputToMessage(spout, output)),
  });
}

function spoutFromMessage(message: proto.Spout): SpoutComponent {
  return { kind: 'spout', ...componentFromMessage(message.comp, message.outputs) };
}

function boltToMessage(bolt: BoltComponent): proto.Bolt {
  return create(proto.BoltSchema, {
    comp: componentToMessage(bolt),
    inputs: bolt.inputs.map(inputToMessage),
    outputs: bolt.outputs.map((output) => outputToMessage(bolt, output)),
  });
}

function boltFromMessage(message: proto.Bolt): BoltComponent {
  return {
    kind: 'bolt',
    ...componentFromMessage(message.comp, message.outputs),
    inputs: message.inputs.map(inputFromMessage),
  };
}

function componentToMessage(component: Component): proto.Component {
  const { name, className, language } = component;
  const config = configToMessage(component.config);
  config.kvs.push(setting(PARALLELISM_KEY, String(component.parallelism)));
  switch (language) {
    case 'typescript':
      return create(proto.ComponentSchema, { name, className, config, language });
    case 'java':
    case 'python': {
      const spec =
        language === 'java'
          ? proto.ComponentObjectSpec.JAVA_CLASS_NAME
          : proto.ComponentObjectSpec.PYTHON_CLASS_NAME;
      assert(className !== '', `the model holds no code of the ${language} component ${name} (T2)`);
      return create(proto.ComponentSchema, { name, className, config, spec });
    }
    case 'cpp': {
      const spec = proto.ComponentObjectSpec.CPP_CLASS_INFO;
      const cppClassInfo = { classConstructor: className };
      return create(proto.ComponentSchema, { name, config, spec, cppClassInfo });
    }
    default:
      return unreachable(language);
  }
}

function componentFromMessage(
  message: proto.Component | undefined,
  outputs: readonly proto.OutputStream[],
): Omit<SpoutComponent, 'kind'> {
  const component = assertDefined(message, 'decode has checked required fields');
  const { name } = component;
  const config = new Map(configFromMessage(component.config));
  const parallelismText = config.get(PARALLELISM_KEY);
  const parallelism = Number(parallelismText);
  if (!Number.isSafeInteger(parallelism) || parallelism < 1) {
    const found = parallelismText === undefined ? 'missing' : `"${parallelismText}"`;
    throw malformed(
      `component ${name}: ${PARALLELISM_KEY} is ${found}, not a whole number from 1 up`,
    );
  }
  config.delete(PARALLELISM_KEY);
  return {
    name: componentName(name),
    parallelism,
    language: languageOf(component),
    className: component.cppClassInfo?.classConstructor ?? component.className,
    config,
    outputs: outputs.map((output) => ({
      stream: streamName(output.stream?.id ?? ''),
      fields: fieldsFromMessage(output.schema),
    })),
  };
}

function languageOf(component: proto.Component): ComponentLanguage {
  if (isFieldSet(component, proto.ComponentSchema.field.language)) {
    const language = LANGUAGES.find((known) => known === component.language);
    if (language !== undefined) return language;
    throw malformed(`component ${component.name}: unknown language "${component.language}"`);
  }
  if (isFieldSet(component, proto.ComponentSchema.field.spec)) {
    return SPEC_LANGUAGES[component.spec];
  }
  throw malformed(`component ${component.name}: neither spec nor language says how to run it`);
}

function outputToMessage(component: Component, output: OutputStream): proto.OutputStream {
  return create(proto.OutputStreamSchema, {
    stream: { id: output.stream, componentName: component.name },
    schema: fieldsToMessage(output.fields),
  });
}

function inputToMessage({ component, stream, grouping }: InputStream): proto.InputStream {
  return create(proto.InputStreamSchema, {
    stream: { id: stream, componentName: component },
    gtype: GROUPINGS[grouping.kind],
    ...(grouping.kind === 'fields' && { groupingFields: fieldsToMessage(grouping.fields) }),
    ...(grouping.kind === 'local-or-shuffle' && { prefersLocal: true }),
  });
}

function inputFromMessage(message: proto.InputStream): InputStream {
  const stream = assertDefined(message.stream, 'decode has checked required fields');
  return {
    component: componentName(stream.componentName),
    stream: streamName(stream.id),
    grouping: groupingFromMessage(message),
  };
}

function groupingFromMessage(message: proto.InputStream): Grouping {
  const kind = GROUPING_KINDS[message.gtype];
  if (kind === 'shuffle' && message.prefersLocal) return { kind: 'local-or-shuffle' };
  if (kind !== 'fields') return { kind };
  return { kind, fields: fieldsFromMessage(message.groupingFields) };
}

function fieldsToMessage(fields: readonly string[]): proto.StreamSchema {
  const keys = fields.map((key) => ({ key, type: proto.Type.OBJECT }));
  return create(proto.StreamSchemaSchema, { keys });
}

function fieldsFromMessage(message: proto.StreamSchema | undefined): readonly string[] {
  return (message?.keys ?? []).map(({ key }) => key);
}

function configToMessage(config: ConfigMap): proto.Config {
  const kvs = Array.from(config, ([key, value]) => setting(key, value));
  return create(proto.ConfigSchema, { kvs });
}

function setting(key: string, value: string): proto.Config_KeyValue {
  const type = proto.ConfigValueType.STRING_VALUE;
  return create(proto.Config_KeyValueSchema, { key, value, type });
}

/** Serialized values belong to other languages and stay out (T2). */
function configFromMessage(message: proto.Config | undefined): ConfigMap {
  const { type, value } = proto.Config_KeyValueSchema.field;
  const isText = (entry: proto.Config_KeyValue): boolean =>
    isFieldSet(entry, value) &&
    (!isFieldSet(entry, type) || entry.type === proto.ConfigValueType.STRING_VALUE);
  return new Map((message?.kvs ?? []).filter(isText).map(({ key, value: text }) => [key, text]));
}
