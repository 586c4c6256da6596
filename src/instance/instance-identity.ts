import { parseArgs } from 'node:util';
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
import { messageOf, userError } from '../base/errors.ts';

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

const OPTIONS = {
  'topology-name': { type: 'string' },
  'topology-id': { type: 'string' },
  cluster: { type: 'string' },
  role: { type: 'string' },
  environ: { type: 'string' },
  host: { type: 'string' },
  'container-id': { type: 'string' },
  'state-root': { type: 'string' },
  'definition-file': { type: 'string' },
  'log-directory': { type: 'string' },
  'instance-id': { type: 'string' },
  'component-name': { type: 'string' },
  'task-id': { type: 'string' },
  'component-index': { type: 'string' },
  'stream-manager-id': { type: 'string' },
  'stream-manager-port': { type: 'string' },
  'metrics-manager-port': { type: 'string' },
} as const;

/** Throws INVALID_ARGUMENT with the flag's name when one is missing, unknown or out of range. */
export function parseInstanceIdentity(args: readonly string[]): InstanceIdentity {
  const values = parseFlags(args);
  const text = (flag: keyof typeof OPTIONS): string => {
    const value = values[flag];
    if (value === undefined || value === '') throw wrong(`--${flag} is missing`);
    return value;
  };
  const whole = (flag: keyof typeof OPTIONS, min: number, max: number): number => {
    const value = Number(text(flag));
    if (!Number.isInteger(value) || value < min || value > max) {
      throw wrong(`--${flag} must be a whole number from ${min} to ${max}, got '${text(flag)}'`);
    }
    return value;
  };
  return {
    topologyName: topologyName(text('topology-name')),
    topologyId: topologyId(text('topology-id')),
    instance: instanceId(text('instance-id')),
    component: componentName(text('component-name')),
    task: taskId(whole('task-id', 1, 0x7fff_ffff)),
    componentIndex: whole('component-index', 0, 0x7fff_ffff),
    container: containerId(whole('container-id', 1, 999_999_999)),
    host: text('host'),
    streamManager: streamManagerId(text('stream-manager-id')),
    streamManagerPort: whole('stream-manager-port', 1, 65_535),
    metricsManagerPort: whole('metrics-manager-port', 1, 65_535),
    definitionFile: text('definition-file'),
    logDirectory: text('log-directory'),
  };
}

function parseFlags(args: readonly string[]): Partial<Record<keyof typeof OPTIONS, string>> {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, strict: true }).values;
  } catch (cause) {
    throw wrong(messageOf(cause));
  }
}

function wrong(what: string) {
  return userError('INVALID_ARGUMENT', `instance: ${what}; instances are started by an executor`);
}
