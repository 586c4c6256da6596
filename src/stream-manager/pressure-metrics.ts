import type { ComponentName, InstanceId, StreamManagerId } from '../base/ids.ts';
import type { InstanceAddress } from '../model/physical-plan.ts';
import type { Hold } from './hold-book.ts';

/*
  What is measured of back pressure, in milliseconds. Heron's names; the last one is ours, since
  Heron does not tell whom spouts wait for.
*/

/** While this stream manager says of any task that it is behind. */
const INITIATED = '__server/__time_spent_back_pressure_initiated';
/** While any spout of the container holds. */
const HELD = '__server/__time_spent_back_pressure_aggr';
/** While a task is called behind by this stream manager; the instance's id follows. */
const OF_INSTANCE = '__time_spent_back_pressure_by_compid/';
/** While a task of this container is called behind by its own stream manager. */
const BY_LOCAL_INSTANCE = '__time_spent_back_pressure_by_local_instance';
/** While a spout of the container holds because another stream manager asked for it. */
const BY_REMOTE = '__server/__time_spent_back_pressure_by_remote_stmgr';
/** While a spout of the container holds: for which component, and who says so. */
const BY_COMPONENT = '__time_spent_back_pressure_by_component/';

/** What runs while a stream manager says of a task that it is behind. */
export function initiatorMetrics(
  { id, streamManager }: InstanceAddress,
  ownId: StreamManagerId,
): readonly string[] {
  const isLocal = streamManager === ownId;
  return [INITIATED, timesOfInstance(id), ...(isLocal ? [BY_LOCAL_INSTANCE] : [])];
}

/** That of one instance alone. */
export function timesOfInstance(id: InstanceId): string {
  return `${OF_INSTANCE}${id}`;
}

/** Bytes that wait for an instance of this container or are under way to it. */
export function bufferOfInstance(id: InstanceId): string {
  return `__connection_buffer_by_instanceid/${id}/bytes`;
}

/** Batches that wait here for an instance of this container. */
export function waitingSetsOfInstance(id: InstanceId): string {
  return `__connection_buffer_length_by_instanceid/${id}/packets`;
}

/**
 * How old, at each of the looks that back pressure takes, the oldest tuples were that the tasks of
 * a component had not been done with: waiting here, on the way, or in the task's own queue.
 */
export function agesOfComponent(component: ComponentName): string {
  return `__oldest_tuple_by_compid_ms/${component}`;
}

/** What runs while a hold reaches a spout of the container. */
export function holdMetrics(
  { component, streamManager }: Hold,
  ownId: StreamManagerId,
): readonly string[] {
  const isRemote = streamManager !== ownId;
  const who = `${BY_COMPONENT}${component ?? 'unknown'}/${streamManager}`;
  return [HELD, who, ...(isRemote ? [BY_REMOTE] : [])];
}
