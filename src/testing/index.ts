/* What `import … from 'heron-ts/testing'` gives. Nothing else of the kit is public. */

export type { LogLevel } from '../base/log-file.ts';
export type { CompletionResult } from '../model/completion.ts';
export type { ExitRecord } from '../simulation/machine/simulated-machine.ts';
export type { ComponentInTest, ComponentTestOptions, OutputOf } from './component-in-test.ts';
export type { StandIn } from './stand-in-components.ts';
export type { TestUpdate } from './lone-plan.ts';
export type { LoggedLine } from './observed-log.ts';
export {
  crashOnce,
  hangFor,
  pauseFor,
  type ScriptedStep,
  type SpoutFromOptions,
  spoutFrom,
  type SpoutItems,
  type SpoutScript,
  throwOnce,
  tupleFor,
} from './spout-script.ts';
export type {
  EmittedTuple,
  FailedTuple,
  ObservedError,
  ReceivedTuple,
  SettledMessage,
} from './task-history.ts';
export {
  type BoltInTest,
  type SendOptions,
  type SentValues,
  testBolt,
  type TestBoltOptions,
} from './test-bolt.ts';
export {
  type GivenReason,
  type SpoutInTest,
  testSpout,
  type TestSpoutOptions,
} from './test-spout.ts';
export { testTopology, type TestTopologyOptions } from './test-topology.ts';
export type { CompletedRun, TopologyRun, TupleFilter } from './topology-run.ts';
export { type RealAccess, spend } from './user-code.ts';
