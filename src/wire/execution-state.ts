import { create } from '@bufbuild/protobuf';
import { type TopologyId, type TopologyName, topologyId, topologyName } from '../base/ids.ts';
import * as proto from './generated/execution_state_pb.js';
import { readNode, wholeNumber } from './malformed.ts';
import { StoredExecutionState } from './messages.ts';

/** Who submitted a topology, when and where to: the node executionstate/<topology>. */
export interface ExecutionState {
  readonly topologyName: TopologyName;
  readonly topologyId: TopologyId;
  /** Whole seconds since the epoch; 0 when it is not known. */
  readonly submittedAtSeconds: number;
  readonly submittedBy: string;
  readonly cluster: string;
  readonly role: string;
  readonly environ: string;
  /** The version of the engine that submitted. */
  readonly engineVersion: string;
}

export function encodeExecutionState(state: ExecutionState): Uint8Array {
  return StoredExecutionState.encode(
    create(proto.ExecutionStateSchema, {
      topologyName: state.topologyName,
      topologyId: state.topologyId,
      submissionTime: BigInt(state.submittedAtSeconds),
      submissionUser: state.submittedBy,
      cluster: state.cluster,
      environ: state.environ,
      role: state.role,
      releaseState: {
        releaseUsername: state.submittedBy,
        releaseTag: state.engineVersion,
        releaseVersion: state.engineVersion,
      },
    }),
  );
}

/** @throws EngineError with code STATE_CORRUPTED. */
export function decodeExecutionState(bytes: Uint8Array): ExecutionState {
  return readNode('execution state', () =>
    executionStateFromMessage(StoredExecutionState.decode(bytes)),
  );
}

/** @throws EngineError with code PACKET_MALFORMED. */
export function executionStateFromMessage(message: proto.ExecutionState): ExecutionState {
  return {
    topologyName: topologyName(message.topologyName),
    topologyId: topologyId(message.topologyId),
    submittedAtSeconds: wholeNumber(message.submissionTime, 'ExecutionState.submission_time'),
    submittedBy: message.submissionUser,
    cluster: message.cluster,
    role: message.role,
    environ: message.environ,
    engineVersion: message.releaseState?.releaseVersion ?? '',
  };
}
