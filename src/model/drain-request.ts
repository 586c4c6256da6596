import { environmentError } from '../base/errors.ts';
import { type TopologyId, topologyId } from '../base/ids.ts';

/*
  The wish that a topology process what it has taken in, and then end: a JSON node of the state
  tree, so that it outlives whoever asked for it. The topology master ends the spouts' input; the
  tasks then end one after the other, and the topology completes like one whose input ended by
  itself. The scheduler takes it down when it has completed, or at the deadline.
*/

export interface DrainRequest {
  readonly topologyId: TopologyId;
  /** By the wall clock, which outlives processes. */
  readonly deadlineMs: number;
}

export function encodeDrainRequest(request: DrainRequest): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(request));
}

/** @throws EngineError STATE_CORRUPTED */
export function parseDrainRequest(bytes: Uint8Array): DrainRequest {
  const { topologyId: id, deadlineMs } = membersOf(bytes);
  if (typeof id === 'string' && typeof deadlineMs === 'number') {
    return { topologyId: topologyId(id), deadlineMs };
  }
  throw environmentError('STATE_CORRUPTED', 'the drain request does not name a topology');
}

function membersOf(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes))) as Record<string, unknown>;
  } catch (cause) {
    throw environmentError('STATE_CORRUPTED', 'the drain request is not JSON', { cause });
  }
}
