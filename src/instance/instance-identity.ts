import { COMMON_FLAGS, CommandLine, type WholeNumberLimits } from '../base/command-line.ts';
import {
  type ComponentName,
  componentName,
  type ContainerId,
  containerId,
  type InstanceId,
  instanceId,
  type StreamManagerId,
  streamManagerId,
  type TaskId,
  taskId,
  type TopologyId,
  type TopologyName,
  topologyId,
  topologyName,
} from '../base/ids.ts';

/** Who an instance is and where its partners are: its command line, checked. Plain data. */
export interface InstanceIdentity {
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  readonly instance: InstanceId;
  readonly component: ComponentName;
  readonly task: TaskId;
  readonly componentIndex: number;
  readonly container: ContainerId;
  readonly host: string;
  readonly streamManager: StreamManagerId;
  readonly streamManagerPort: number;
  readonly metricsManagerPort: number;
  readonly definitionFile: string;
  readonly logDirectory: string;
}

const FLAGS = [
  ...COMMON_FLAGS,
  'instance-id',
  'component-name',
  'task-id',
  'component-index',
  'stream-manager-id',
  'stream-manager-port',
  'metrics-manager-port',
] as const;

const TASK_ID: WholeNumberLimits = { min: 1, max: 0x7fff_ffff };
const COMPONENT_INDEX: WholeNumberLimits = { min: 0, max: 0x7fff_ffff };
const CONTAINER_ID: WholeNumberLimits = { min: 1, max: 999_999_999 };
/** An instance only dials, so none is chosen for it. */
const PARTNERS_PORT: WholeNumberLimits = { min: 1, max: 65_535 };

/** @throws EngineError INVALID_ARGUMENT for a flag that is missing, unknown or out of range. */
export function parseInstanceIdentity(args: readonly string[]): InstanceIdentity {
  const flags = new CommandLine(args, FLAGS);
  return {
    topologyName: topologyName(flags.text('topology-name')),
    topologyId: topologyId(flags.text('topology-id')),
    instance: instanceId(flags.text('instance-id')),
    component: componentName(flags.text('component-name')),
    task: taskId(flags.wholeNumber('task-id', TASK_ID)),
    componentIndex: flags.wholeNumber('component-index', COMPONENT_INDEX),
    container: containerId(flags.wholeNumber('container-id', CONTAINER_ID)),
    host: flags.text('host'),
    streamManager: streamManagerId(flags.text('stream-manager-id')),
    streamManagerPort: flags.wholeNumber('stream-manager-port', PARTNERS_PORT),
    metricsManagerPort: flags.wholeNumber('metrics-manager-port', PARTNERS_PORT),
    definitionFile: flags.text('definition-file'),
    logDirectory: flags.text('log-directory'),
  };
}
