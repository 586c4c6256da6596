import { EngineError, environmentError } from '../../base/errors.ts';
import { stateAddressText, type ZooKeeperStateAddress } from '../state-address.ts';
import { ZooKeeperError, type ZooKeeperReason } from './zookeeper-error.ts';

/** What a call was about when it failed. */
export interface FailedCall {
  readonly doing: 'read' | 'write';
  readonly path: string;
  readonly address: ZooKeeperStateAddress;
}

/** What a person must change before the node can be written. */
const NOT_WRITABLE: ReadonlyMap<ZooKeeperReason, string> = new Map([
  ['TOO_LARGE', 'it is larger than the servers take (their jute.maxbuffer, 1 MB unless set)'],
  ['QUOTA_EXCEEDED', 'the quota of the servers is used up'],
  ['NOT_EMPTY', 'there are nodes below it'],
  ['NO_CHILDREN_FOR_EPHEMERALS', 'a part of that path is an ephemeral node'],
]);

/** The error of the port for whatever a request, or a call's own rules, ended with. */
export function stateFailure(error: unknown, { doing, path, address }: FailedCall): unknown {
  if (!(error instanceof ZooKeeperError)) return error;
  const what = `cannot ${doing} the state node ${path} at ${stateAddressText(address)}`;
  const { code, domain, retryable } = error;
  const options = { domain, retryable, cause: error };
  const obstacle = NOT_WRITABLE.get(error.reason);
  if (obstacle !== undefined) {
    return environmentError('STATE_NOT_WRITABLE', `${what}: ${obstacle}`, { cause: error });
  }
  if (code === 'NOT_AUTHORIZED') {
    const remedy = 'see heron.statemgr.zookeeper.digest.file';
    return new EngineError(code, `${what}: the servers do not let this user; ${remedy}`, options);
  }
  const why =
    error.reason === 'TIMED_OUT'
      ? `none of the servers has answered within ${address.connectionTimeoutMs} ms`
      : error.message;
  return new EngineError(code, `${what}: ${why}`, options);
}
