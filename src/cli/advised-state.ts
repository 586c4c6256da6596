import { EngineError, hasCode } from '../base/errors.ts';
import { type StateAddress, stateAddressText } from '../state-manager/state-address.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { AdvisedError } from './advised-error.ts';

/**
 * A state manager whose failures say what to do about a store that is not on this machine. For one
 * in files the advice of the codes themselves is right.
 */
export function withAdvice(
  state: StateManager,
  cluster: string,
  address: StateAddress,
): StateManager {
  if (address.kind === 'file') return state;
  const advised = async <Result>(call: Promise<Result>): Promise<Result> => {
    try {
      return await call;
    } catch (error) {
      throw advisedError(error, cluster, address);
    }
  };
  return {
    read: (path) => advised(state.read(path)),
    create: (path, bytes, options) => advised(state.create(path, bytes, options)),
    write: (path, bytes) => advised(state.write(path, bytes)),
    replace: (path, expected, bytes) => advised(state.replace(path, expected, bytes)),
    delete: (path) => advised(state.delete(path)),
    list: (folder) => advised(state.list(folder)),
    watch: (path, onValue) => state.watch(path, onValue),
    nextEpoch: (topology) => advised(state.nextEpoch(topology)),
    close: () => state.close(),
  };
}

function advisedError(error: unknown, cluster: string, address: StateAddress): unknown {
  if (!(error instanceof EngineError)) return error;
  const next = adviceFor(error, cluster, address);
  if (next === undefined) return error;
  const { code, message, domain, retryable } = error;
  return new AdvisedError(code, message, { domain, retryable, next, cause: error });
}

function adviceFor(error: EngineError, cluster: string, address: StateAddress): string | undefined {
  const where = stateAddressText(address);
  if (hasCode(error, 'STATE_UNAVAILABLE')) {
    return error.retryable
      ? `see that ZooKeeper runs at ${where} and can be reached from here, then try again; ` +
          'running topologies go on meanwhile'
      : 'run the same command again, which goes on where this one stopped';
  }
  if (hasCode(error, 'STATE_NOT_WRITABLE')) {
    return `see the limits of the servers at ${where} (jute.maxbuffer, quotas)`;
  }
  if (hasCode(error, 'NOT_AUTHORIZED')) {
    const show = `heron config show ${cluster}`;
    return `see heron.statemgr.zookeeper.digest.file ('${show}'), and whose the nodes are`;
  }
  return undefined;
}
