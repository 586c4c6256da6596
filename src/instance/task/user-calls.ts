import type { AnyTuple } from '../../api/tuple.ts';
import type { EngineError } from '../../base/errors.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { Callback, TaskStatusWriter } from '../task-status.ts';
import { componentFailure } from './component-failure.ts';

export function isPromise(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}

/** Calls methods of the component: marks them for the gateway's watch, and names them in errors. */
export class UserCalls {
  readonly #identity: InstanceIdentity;
  readonly #status: TaskStatusWriter;

  constructor(identity: InstanceIdentity, status: TaskStatusWriter) {
    this.#identity = identity;
    this.#status = status;
  }

  /** For the rare calls; the runners' loops inline this for `nextTuple` and `execute`. */
  async call<T>(callback: Callback, method: () => T | PromiseLike<T>): Promise<T> {
    const status = this.#status;
    status.enter(callback);
    try {
      const returned = method();
      if (!isPromise(returned)) return returned;
      status.awaitPromise();
      return await returned;
    } catch (error) {
      throw this.failure(callback, error);
    } finally {
      status.leave();
    }
  }

  failure(callback: Callback, thrown: unknown, tuple?: AnyTuple): EngineError {
    return componentFailure(thrown, { identity: this.#identity, callback, tuple });
  }
}
