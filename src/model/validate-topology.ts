import { unreachable } from '../base/assert.ts';
import { type EngineError, userError } from '../base/errors.ts';
import type { ComponentName, StreamName, TopologyName } from '../base/ids.ts';
import type {
  BoltComponent,
  Component,
  ConfigMap,
  DeclaredTopology,
  InputStream,
} from './logical-topology.ts';
import { didYouMean } from './nearest.ts';
import { quotable } from './quotable.ts';
import { repeated } from './repeated.ts';
import { isReplaying, REPLAYS_KEY } from './replaying-spouts.ts';
import {
  configProblems,
  settingConflicts,
  type SettingKey,
  Settings,
  type SettingValue,
} from './settings.ts';
import { graphProblems } from './validate-graph.ts';

/*
  What makes a topology fit to run. Checked by the client before anything is stored, and by the
  topology master on whatever it reads, so that a bad record can never crash it again and again.

  V1. All problems are found in one pass: the author sees the whole list.
  V2. Each is one sentence: where, what, and what to do unless that is plain.
  V3. Nothing is taken for granted about the data but its types: names may have any length and any
      letters.
*/

export interface Problem {
  readonly code: 'INVALID_TOPOLOGY' | 'INVALID_CONFIG';
  readonly message: string;
}

/** Names end up in paths, file names and metrics; these letters are safe in all of them. */
const TOPOLOGY_NAME = /^[A-Za-z0-9_-]{1,128}$/;
const COMPONENT_NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;
/** The engine's own components and streams, such as `__system`, begin like this. */
const RESERVED_PREFIX = '__';
const FIELD_LENGTH_MAX = 256;
const KEY_LENGTH_MAX = 256;
/** As the setting `topology.component.parallelism`. */
const PARALLELISM_MAX = 100_000;
/**
 * Keys and values of all settings of a topology: the definition is part of every physical plan,
 * which has to fit into a packet.
 */
const CONFIG_LETTERS_MAX = 1024 * 1024;

/** What stream managers do for all components alike. */
const TOPOLOGY_WIDE = [
  'topology.reliability.mode',
  'topology.message.timeout.secs',
  'topology.enable.message.timeouts',
  'topology.backpressure.scope',
  'topology.droptuples.upon.backpressure',
] as const satisfies readonly SettingKey[];

/** Everything that is wrong with a topology; empty when it is fit to run. */
export function validateTopology(topology: DeclaredTopology): readonly Problem[] {
  const { name, config, components } = topology;
  const byName = new Map(components.map((component) => [component.name, component]));
  return [
    ...topologyNameProblems(name),
    ...[...configProblems(config), ...settingConflicts(config), ...textProblems(config)].map(
      inConfig,
    ),
    ...configSizeProblems(topology).map(inConfig),
    ...resourceMapProblems(topology).map(inConfig),
    ...duplicateProblems(components),
    ...directStreamProblems(components),
    ...components.flatMap((component) => componentProblems(component, config, byName)),
    ...graphProblems(components).map(inTopology),
  ];
}

/** The one error that stands for all problems of a topology. */
export function invalidTopology(name: TopologyName, problems: readonly Problem[]): EngineError {
  const isConfigOnly = problems.every((problem) => problem.code === 'INVALID_CONFIG');
  const [only, ...others] = problems;
  const list = problems.map(({ message }) => `\n  - ${message}`).join('');
  const what =
    only !== undefined && others.length === 0
      ? `: ${only.message}`
      : `, ${problems.length} problems:${list}`;
  return userError(
    isConfigOnly ? 'INVALID_CONFIG' : 'INVALID_TOPOLOGY',
    `topology '${quotable(name)}' is not valid${what}`,
  );
}

/** What is wrong with a topology's name; also for commands that only have a name. */
export function topologyNameProblems(name: string): readonly Problem[] {
  if (TOPOLOGY_NAME.test(name)) return [];
  return [
    inTopology(
      `the topology's name '${quotable(name)}' must have 1 to 128 letters, digits, '-' or '_'`,
    ),
  ];
}

function inTopology(message: string): Problem {
  return { code: 'INVALID_TOPOLOGY', message };
}

function inConfig(message: string): Problem {
  return { code: 'INVALID_CONFIG', message };
}

/** Settings are stored as UTF-8, which has no form for half of a surrogate pair. */
function textProblems(config: ConfigMap): readonly string[] {
  return Array.from(config, ([key, text]) => {
    if (key === '' || key.length > KEY_LENGTH_MAX) {
      return `setting '${quotable(key)}': a key must have 1 to ${KEY_LENGTH_MAX} letters`;
    }
    if (key.isWellFormed() && text.isWellFormed()) return undefined;
    return `setting '${quotable(key)}': half of a surrogate pair cannot be stored`;
  }).filter((problem) => problem !== undefined);
}

function configSizeProblems({ config, components }: DeclaredTopology): readonly string[] {
  const letters = [config, ...components.map((component) => component.config)]
    .flatMap((each) => [...each])
    .reduce((sum, [key, text]) => sum + key.length + text.length, 0);
  if (letters <= CONFIG_LETTERS_MAX) return [];
  return [
    `the settings have ${letters} letters, at most ${CONFIG_LETTERS_MAX} can be stored; ` +
      'put what is long into a file',
  ];
}

/** Components that settings ask resources for must exist: a typing error would go unnoticed. */
function resourceMapProblems({ config, components }: DeclaredTopology): readonly string[] {
  const names = components.map(({ name }) => name);
  const known = new Set<string>(names);
  const keys = [
    'topology.component.cpumap',
    'topology.component.rammap',
    'topology.component.diskmap',
  ] as const;
  return keys.flatMap((key) => {
    const byComponent = validSetting(config, key) ?? new Map<string, number>();
    return [...byComponent.keys()]
      .filter((name) => !known.has(name))
      .map((name) => `${key}: there is no component '${quotable(name)}'${didYouMean(name, names)}`);
  });
}

/** undefined also when the text is wrong, which is reported elsewhere. */
function validSetting<Key extends SettingKey>(
  config: ConfigMap,
  key: Key,
): SettingValue<Key> | undefined {
  const text = config.get(key);
  const isWrong = text !== undefined && configProblems(new Map([[key, text]])).length > 0;
  return isWrong ? undefined : new Settings(config).get(key);
}

function duplicateProblems(components: readonly Component[]): readonly Problem[] {
  const names = components.map(({ name }) => name);
  return repeated(names).map((name) =>
    inTopology(
      `component '${quotable(name)}': the name is used more than once, each needs its own`,
    ),
  );
}

/** A tuple either names its task or leaves the choice: a stream cannot be emitted to both ways. */
function directStreamProblems(components: readonly Component[]): readonly Problem[] {
  const inputs = components.flatMap((bolt) =>
    bolt.kind === 'bolt' ? bolt.inputs.map((input) => ({ ...input, bolt: bolt.name })) : [],
  );
  return components
    .filter(({ language }) => language === 'typescript')
    .flatMap((source) => source.outputs.map(({ stream }) => ({ source: source.name, stream })))
    .flatMap(({ source, stream }) => {
      const readers = inputs.filter((one) => one.component === source && one.stream === stream);
      const direct = readers.find(({ grouping }) => grouping.kind === 'direct');
      const other = readers.find(({ grouping }) => grouping.kind !== 'direct');
      if (direct === undefined || other === undefined) return [];
      return [
        inTopology(
          `stream '${quotable(stream)}' of '${quotable(source)}' is read by direct grouping ` +
            `('${quotable(direct.bolt)}') and by another ('${quotable(other.bolt)}'): declare a ` +
            'stream of its own for what is emitted to one task',
        ),
      ];
    });
}

type ComponentsByName = ReadonlyMap<ComponentName, Component>;

function componentProblems(
  component: Component,
  config: ConfigMap,
  byName: ComponentsByName,
): readonly Problem[] {
  const where = `${component.kind} '${quotable(component.name)}'`;
  const messages = [
    ...componentNameProblems(component.name),
    ...parallelismProblems(component, config),
    ...outputProblems(component),
    ...(component.kind === 'bolt' ? inputProblems(component, byName) : []),
  ];
  return [
    ...messages.map((message) => inTopology(`${where}: ${message}`)),
    ...componentConfigProblems(component, config).map((message) =>
      inConfig(`${where}: ${message}`),
    ),
  ];
}

/** Its own settings, and how they go with the topology's. */
function componentConfigProblems(component: Component, config: ConfigMap): readonly string[] {
  const own = authorsConfig(component);
  const problems = [...configProblems(own), ...textProblems(own), ...topologyWideProblems(own)];
  if (own.size === 0 || problems.length > 0) return problems;
  const known = new Set(settingConflicts(config));
  return settingConflicts(new Map([...config, ...own])).filter((conflict) => !known.has(conflict));
}

/** In a component they would be passed over, and be believed to hold. */
function topologyWideProblems(config: ConfigMap): readonly string[] {
  return TOPOLOGY_WIDE.filter((key) => config.has(key)).map(
    (key) => `${key} holds for a whole topology; set it there`,
  );
}

/** A component's settings without what the builder adds to them. */
function authorsConfig(component: Component): ConfigMap {
  if (!isReplaying(component)) return component.config;
  return new Map([...component.config].filter(([key]) => key !== REPLAYS_KEY));
}

function componentNameProblems(name: string): readonly string[] {
  if (!COMPONENT_NAME.test(name)) {
    return ["its name must have 1 to 128 letters, digits, '-', '_' or '.', with no '.' in front"];
  }
  return name.startsWith(RESERVED_PREFIX)
    ? [`names that begin with '__' are the engine's own`]
    : [];
}

function parallelismProblems(component: Component, config: ConfigMap): readonly string[] {
  const { parallelism } = component;
  if (!Number.isSafeInteger(parallelism) || parallelism < 1) {
    return [`its parallelism must be a whole number from 1, not ${parallelism}`];
  }
  if (parallelism > PARALLELISM_MAX) {
    return [`its parallelism of ${parallelism} is above ${PARALLELISM_MAX}`];
  }
  const keyGroups = validSetting(config, 'topology.key.groups');
  const isKeyed =
    component.kind === 'bolt' &&
    component.inputs.some(({ grouping }) => grouping.kind === 'fields');
  if (!isKeyed || keyGroups === undefined || parallelism <= keyGroups) return [];
  return [
    `its parallelism of ${parallelism} is above the ${keyGroups} key groups ` +
      'that a fields grouping shares out; raise topology.key.groups or lower the parallelism',
  ];
}

function outputProblems({ outputs }: Component): readonly string[] {
  const names = outputs.map(({ stream }) => stream);
  return [
    ...repeated(names).map((name) => `stream '${quotable(name)}' is declared more than once`),
    ...outputs.flatMap(({ stream, fields }) => [
      ...streamNameProblems(stream),
      ...repeated(fields).map(
        (field) => `stream '${quotable(stream)}' has field '${quotable(field)}' twice`,
      ),
      ...fields
        .filter((field) => field === '' || field.length > FIELD_LENGTH_MAX || !field.isWellFormed())
        .map(
          (field) =>
            `field '${quotable(field)}' of stream '${quotable(stream)}' must have 1 to 256 letters`,
        ),
    ]),
  ];
}

function streamNameProblems(stream: StreamName): readonly string[] {
  if (!COMPONENT_NAME.test(stream)) {
    return [`stream '${quotable(stream)}' must have 1 to 128 letters, digits, '-', '_' or '.'`];
  }
  return stream.startsWith(RESERVED_PREFIX)
    ? [`stream '${quotable(stream)}': names that begin with '__' are the engine's own`]
    : [];
}

function inputProblems(bolt: BoltComponent, byName: ComponentsByName): readonly string[] {
  const inputs = bolt.inputs.map(
    ({ component, stream }) => `stream '${quotable(stream)}' of '${quotable(component)}'`,
  );
  return [
    ...repeated(inputs).map((input) => `it reads ${quotable(input)} more than once`),
    ...bolt.inputs.flatMap((input) => {
      const source = byName.get(input.component);
      return source === undefined
        ? [unknownSource(input, byName)]
        : sourceProblems(bolt, input, source);
    }),
  ];
}

function unknownSource({ component }: InputStream, byName: ComponentsByName): string {
  const suggestion = didYouMean(component, byName.keys());
  return `it reads '${quotable(component)}', but there is no such component${suggestion}`;
}

function sourceProblems(
  bolt: BoltComponent,
  { component, stream, grouping }: InputStream,
  source: Component,
): readonly string[] {
  const output = source.outputs.find((candidate) => candidate.stream === stream);
  if (output === undefined) {
    const known = listed(source.outputs.map((candidate) => candidate.stream));
    return [
      `it reads stream '${quotable(stream)}' of '${quotable(component)}', which declares ${known}`,
    ];
  }
  switch (grouping.kind) {
    case 'fields':
      return groupingFieldProblems(
        grouping.fields,
        `stream '${quotable(stream)}' of '${quotable(component)}'`,
        output.fields,
      );
    case 'custom':
      // The code is declared beside the bolt and runs in the source: both must be of one module.
      if ((bolt.language === 'typescript') === (source.language === 'typescript')) return [];
      return [
        `a custom grouping (of '${quotable(component)}') cannot lie between TypeScript and ` +
          'another language',
      ];
    case 'direct':
    case 'shuffle':
    case 'local-or-shuffle':
    case 'none':
    case 'all':
    case 'global':
      return [];
    default:
      return unreachable(grouping);
  }
}

function groupingFieldProblems(
  fields: readonly string[],
  stream: string,
  known: readonly string[],
): readonly string[] {
  if (fields.length === 0) return [`the fields grouping of ${stream} names no fields`];
  return [
    ...repeated(fields).map(
      (field) => `the grouping of ${stream} names '${quotable(field)}' twice`,
    ),
    ...fields
      .filter((field) => !known.includes(field))
      .map(
        (field) =>
          `it groups ${stream} by '${quotable(field)}', but the fields are ${listed(known)}`,
      ),
  ];
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.map((name) => `'${quotable(name)}'`).join(', ');
}
