/* What `import … from 'heron-ts'` gives. Nothing else is public. */

export type { Clock, Timer } from '../base/clock.ts';
export {
  EngineError,
  type EngineErrorOptions,
  type ErrorCode,
  type ErrorDomain,
} from '../base/errors.ts';
export type { ComponentName, StreamName, TaskId, TopologyName } from '../base/ids.ts';
export type { LogFields, Logger } from '../base/logger.ts';
export { CountMetric, type UserMetric } from '../metrics/count-metric.ts';
export type { Grouping, InputStream, OutputStream } from '../model/logical-topology.ts';
export type { SettingKey, Settings, SettingValue } from '../model/settings.ts';
export { BasicBolt } from './basic-bolt.ts';
export { Bolt } from './bolt.ts';
export type { BoltDeclarer } from './bolt-declarer.ts';
export type { ConfigInput, ConfigValue } from './config.ts';
export type { Source } from './source.ts';
export { Spout } from './spout.ts';
export {
  type FieldDeclaration,
  fields,
  type NoStreams,
  type StreamDeclarations,
  type TypedFields,
} from './streams.ts';
export {
  type BuildOptions,
  type BuiltTopology,
  type DefineTopology,
  topology,
  type TopologyDefinition,
} from './topology.ts';
export type { ComponentOptions, TopologyBuilder } from './topology-builder.ts';
export type { TargetStream, TopologyContext } from './topology-context.ts';
export { type AnyTuple, Tuple } from './tuple.ts';
