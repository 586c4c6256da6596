/*
  Branded identifiers: a bare number or string does not pass for one of these in a signature.
  Make one with its function, at the place where the value enters the program.
*/

declare const brand: unique symbol;
type Branded<Value, Name extends string> = Value & { readonly [brand]: Name };

/** One parallel copy of a component; unique in its topology, 1 or more. */
export type TaskId = Branded<number, 'TaskId'>;
/** 0 is the topology master's container, 1 and up are workers. */
export type ContainerId = Branded<number, 'ContainerId'>;
/** A number that only grows; what carries an older one is refused. */
export type Epoch = Branded<number, 'Epoch'>;
export type TopologyName = Branded<string, 'TopologyName'>;
/** The topology's name followed by a random UUID; new at every submit. */
export type TopologyId = Branded<string, 'TopologyId'>;
export type ComponentName = Branded<string, 'ComponentName'>;
export type StreamName = Branded<string, 'StreamName'>;
/** `container_<container>_<component>_<task>`, as Heron writes it. */
export type InstanceId = Branded<string, 'InstanceId'>;
/** `stmgr-<container>`, as Heron writes it. */
export type StreamManagerId = Branded<string, 'StreamManagerId'>;

export const taskId = (value: number): TaskId => value as TaskId;
export const containerId = (value: number): ContainerId => value as ContainerId;
export const epoch = (value: number): Epoch => value as Epoch;
export const topologyName = (value: string): TopologyName => value as TopologyName;
export const topologyId = (value: string): TopologyId => value as TopologyId;
export const componentName = (value: string): ComponentName => value as ComponentName;
export const streamName = (value: string): StreamName => value as StreamName;
export const instanceId = (value: string): InstanceId => value as InstanceId;
export const streamManagerId = (value: string): StreamManagerId => value as StreamManagerId;

/** The stream that a component emits to when it names none. */
export const DEFAULT_STREAM = streamName('default');

export function instanceIdOf(
  container: ContainerId,
  component: ComponentName,
  task: TaskId,
): InstanceId {
  return instanceId(`container_${container}_${component}_${task}`);
}

/** The component of an instance's id, or undefined when the id is not of that form. */
export function componentOfInstance(id: string): ComponentName | undefined {
  const name = /^container_\d+_(.+)_\d+$/s.exec(id)?.[1];
  return name === undefined ? undefined : componentName(name);
}

export function streamManagerIdOf(container: ContainerId): StreamManagerId {
  return streamManagerId(`stmgr-${container}`);
}

/** The container of a stream manager's id, or undefined when the id is not of that form. */
export function containerOfStreamManager(id: StreamManagerId): ContainerId | undefined {
  const digits = /^stmgr-(\d{1,9})$/.exec(id)?.[1];
  return digits === undefined ? undefined : containerId(Number(digits));
}
