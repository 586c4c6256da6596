import { message, request } from './control-message.ts';
import { ExecutionStateSchema } from './generated/execution_state_pb.js';
import {
  MetricPublisherPublishMessageSchema,
  MetricPublisherRegisterRequestSchema,
  MetricPublisherRegisterResponseSchema,
  MetricsCacheLocationRefreshMessageSchema,
  TManagerLocationRefreshMessageSchema,
} from './generated/metrics_pb.js';
import { PackingPlanSchema } from './generated/packing_plan_pb.js';
import { PhysicalPlanSchema } from './generated/physical_plan_pb.js';
import { SchedulerLocationSchema } from './generated/scheduler_pb.js';
import {
  LinkBeatMessageSchema,
  NewInstanceAssignmentMessageSchema,
  NewPhysicalPlanMessageSchema,
  RegisterInstanceRequestSchema,
  RegisterInstanceResponseSchema,
  StartBackPressureMessageSchema,
  StopBackPressureMessageSchema,
  StrMgrHelloRequestSchema,
  StrMgrHelloResponseSchema,
} from './generated/stmgr_pb.js';
import {
  ExceptionLogRequestSchema,
  ExceptionLogResponseSchema,
  MetricRequestSchema,
  MetricResponseSchema,
  MetricsCacheLocationSchema,
  PublishMetricsSchema,
  StMgrHeartbeatRequestSchema,
  StMgrHeartbeatResponseSchema,
  StMgrRegisterRequestSchema,
  StMgrRegisterResponseSchema,
  StmgrsRegistrationSummaryRequestSchema,
  StmgrsRegistrationSummaryResponseSchema,
  TManagerLocationSchema,
} from './generated/tmanager_pb.js';
import { TopologySchema } from './generated/topology_pb.js';
import type { MessageType } from './message-type.ts';

/*
  Every control message of the engine: its name on the wire, its schema, and whether an answer
  belongs to it. The names here are in whole words; Heron's short ones stay on the wire. How the
  messages follow each other is told in the .proto files. Tuples have codecs of their own
  (tuple-set-reader.ts).
*/

export { StatusCode } from './generated/common_pb.js';
export { MetricKind as WireMetricKind } from './generated/tmanager_pb.js';

/** The value that a message type encodes, for signatures: `ValueOf<typeof NewPhysicalPlan>`. */
export type ValueOf<M> = M extends MessageType<infer T> ? T : never;

// Instance and stream manager.

/**
 * Instance → stream manager. First on a connection; the response holds the plan if there is one.
 */
export const RegisterInstance = request(
  'heron.proto.stmgr.RegisterInstanceRequest',
  RegisterInstanceRequestSchema,
  RegisterInstanceResponseSchema,
);

/** Stream manager → instance. The plan to work by, first and at every change. */
export const NewInstanceAssignment = message(
  'heron.proto.stmgr.NewInstanceAssignmentMessage',
  NewInstanceAssignmentMessageSchema,
);

// Stream manager and stream manager.

/** Sent by whichever side connected, before any tuples. */
export const Hello = request(
  'heron.proto.stmgr.StrMgrHelloRequest',
  StrMgrHelloRequestSchema,
  StrMgrHelloResponseSchema,
);

/** Stream manager → all others. A task is behind: hold the spouts whose tuples reach it. */
export const StartBackPressure = message(
  'heron.proto.stmgr.StartBackPressureMessage',
  StartBackPressureMessageSchema,
);

/** Stream manager → all others. That task is not behind any more. */
export const StopBackPressure = message(
  'heron.proto.stmgr.StopBackPressureMessage',
  StopBackPressureMessageSchema,
);

/**
 * Both ways on a link of two stream managers, and on one of an instance of this engine. Nothing but
 * a sign of life, for peers that were promised it by `beats`.
 */
export const LinkBeat = message('heron.proto.stmgr.LinkBeatMessage', LinkBeatMessageSchema);

// Stream manager and topology master.

/** Stream manager → topology master. Sent once per connection, before any heartbeat. */
export const RegisterStreamManager = request(
  'heron.proto.tmanager.StMgrRegisterRequest',
  StMgrRegisterRequestSchema,
  StMgrRegisterResponseSchema,
);

/** Stream manager → topology master. One after the other, each after the response to the last. */
export const StreamManagerHeartbeat = request(
  'heron.proto.tmanager.StMgrHeartbeatRequest',
  StMgrHeartbeatRequestSchema,
  StMgrHeartbeatResponseSchema,
);

/** Topology master → stream manager. A new plan is in force. */
export const NewPhysicalPlan = message(
  'heron.proto.stmgr.NewPhysicalPlanMessage',
  NewPhysicalPlanMessageSchema,
);

// Metrics.

/** Any process → metrics manager. First on a connection. */
export const RegisterMetricPublisher = request(
  'heron.proto.system.MetricPublisherRegisterRequest',
  MetricPublisherRegisterRequestSchema,
  MetricPublisherRegisterResponseSchema,
);

/** Any process → metrics manager. What was counted since the last time. */
export const PublishMetrics = message(
  'heron.proto.system.MetricPublisherPublishMessage',
  MetricPublisherPublishMessageSchema,
);

/** Metrics manager → topology master and metrics cache. No registration comes before it. */
export const PublishMetricsToMaster = message(
  'heron.proto.tmanager.PublishMetrics',
  PublishMetricsSchema,
);

/** Stream manager → metrics manager. The master is elsewhere now. */
export const TopologyMasterMoved = message(
  'heron.proto.system.TManagerLocationRefreshMessage',
  TManagerLocationRefreshMessageSchema,
);

/** Stream manager → metrics manager. The metrics cache is elsewhere now. */
export const MetricsCacheMoved = message(
  'heron.proto.system.MetricsCacheLocationRefreshMessage',
  MetricsCacheLocationRefreshMessageSchema,
);

// Questions to the topology master's statistics port; bodies of HTTP requests.

export const QueryMetrics = request(
  'heron.proto.tmanager.MetricRequest',
  MetricRequestSchema,
  MetricResponseSchema,
);

export const QueryExceptions = request(
  'heron.proto.tmanager.ExceptionLogRequest',
  ExceptionLogRequestSchema,
  ExceptionLogResponseSchema,
);

export const QueryRegistrations = request(
  'heron.proto.tmanager.StmgrsRegistrationSummaryRequest',
  StmgrsRegistrationSummaryRequestSchema,
  StmgrsRegistrationSummaryResponseSchema,
);

// Nodes of the state tree.

export const StoredTopology = message('heron.proto.api.Topology', TopologySchema);

export const StoredPackingPlan = message('heron.proto.system.PackingPlan', PackingPlanSchema);

export const StoredPhysicalPlan = message('heron.proto.system.PhysicalPlan', PhysicalPlanSchema);

export const StoredExecutionState = message(
  'heron.proto.system.ExecutionState',
  ExecutionStateSchema,
);

export const TopologyMasterLocation = message(
  'heron.proto.tmanager.TManagerLocation',
  TManagerLocationSchema,
);

export const MetricsCacheLocation = message(
  'heron.proto.tmanager.MetricsCacheLocation',
  MetricsCacheLocationSchema,
);

export const SchedulerLocation = message(
  'heron.proto.scheduler.SchedulerLocation',
  SchedulerLocationSchema,
);
