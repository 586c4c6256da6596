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
export type { Random } from '../base/random.ts';
export { AssignableMetric, MultiAssignableMetric } from '../metrics/assignable-metric.ts';
export { CountMetric, CumulativeCountMetric, MultiCountMetric } from '../metrics/count-metric.ts';
export { HistogramMetric, MultiHistogramMetric } from '../metrics/histogram-metric.ts';
export { type LatencyAverages, LatencyStatMetric } from '../metrics/latency-stat-metric.ts';
export {
  MeanMetric,
  MultiMeanMetric,
  MultiReducedMetric,
  ReducedMetric,
  type Reducer,
} from '../metrics/reduced-metric.ts';
export type { MetricReport, UserMetric } from '../metrics/user-metric.ts';
export type { DeadLetterKind, DeadLetterReason } from '../model/dead-letter.ts';
export type { FailError, FailKind, FailReason } from '../model/fail-reason.ts';
export type { Grouping, InputStream, OutputStream } from '../model/logical-topology.ts';
export type { SettingKey, Settings, SettingValue } from '../model/settings.ts';
export { BasicBolt } from './basic-bolt.ts';
export { Bolt } from './bolt.ts';
export type { BoltDeclarer } from './bolt-declarer.ts';
export type { ConfigInput, ConfigValue } from './config.ts';
export type { CustomGrouping, GroupedStream } from './custom-grouping.ts';
export {
  DEAD_LETTER_STREAM,
  deadLetterFields,
  type DeadLetterTuple,
} from './dead-letter-stream.ts';
export type { FilePosition } from './file-position.ts';
export {
  fileSource,
  type FileSourceOptions,
  type LineSpout,
  type ParsedLines,
  type SourcePaths,
} from './file-source.ts';
export type { LetterToReplay } from './letter-to-replay.ts';
export type {
  ReplayableSource,
  SourceAnswer,
  SourceFor,
  SourceMessage,
  UnreadableRecord,
} from './replayable-source.ts';
export { ReplayableSpout, type ReplayOptions } from './replayable-spout.ts';
export type { ReplayedMessage } from './replayed-message.ts';
export type { ValueSerializer } from './serializer.ts';
export type { OpenSourceFile, SourceFiles } from './source-files.ts';
export type { Source } from './source.ts';
export {
  fromAsyncIterable,
  fromReadable,
  fromReadableStream,
  type SourceSpoutOptions,
  type SourceStart,
  type TupleSpout,
  type ValueSpout,
} from './source-spouts.ts';
export { type DeadLetterFacts, Spout } from './spout.ts';
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
export type {
  BoltOptions,
  ComponentOptions,
  SpoutOptions,
  TopologyBuilder,
} from './topology-builder.ts';
export type { TargetStream, TaskHook, TopologyContext } from './topology-context.ts';
export type {
  BoltAckInfo,
  BoltExecuteInfo,
  BoltFailInfo,
  EmitInfo,
  SpoutAckInfo,
  SpoutFailInfo,
} from './hook-info.ts';
export { isTick, type TickTuple } from './tick.ts';
export { type AnyTuple, Tuple } from './tuple.ts';
