import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../base/clock.ts';
import { userError } from '../base/errors.ts';
import type { Random } from '../base/random.ts';

/*
  Knows whether the code that runs right now is user code inside the simulation, and in which world.

  U1. The world belongs to a chain of calls and not to a moment: it is entered where the engine
      calls a component, and follows every promise and timer that begins there. The code of the
      test, and other tests of the process that run in between, are outside, whatever awaits what.
*/

/**
 * What of the real machine a test may let user code reach. Simulated time stands still until the
 * answer is there. Sockets and processes live on beyond an answer and are always refused.
 */
export type RealAccess = 'fetch' | 'files';

/** The machine as user code sees it. */
export interface UserCodeWorld {
  /** Whose code it is, for error messages: `bolt 'count' (task 3)`. */
  readonly where: string;
  /** Of its thread. */
  readonly clock: Clock;
  readonly random: Random;
  readonly allowed: ReadonlySet<RealAccess>;
  /** Real work: simulated time stands still until it is done. */
  outside<Result>(work: Promise<Result>): Promise<Result>;
  /** Calls as an event of the simulation of its own, where what it throws is uncaught. */
  post(call: () => void): void;
  /** The code that runs now takes so long; nothing else happens on its thread meanwhile. */
  spend(ms: number): void;
  /** Ends the process of this code at once, as `kill -9` does. */
  crash(): void;
}

const worlds = new AsyncLocalStorage<UserCodeWorld>();

/** Calls user code in its world. */
export function runUserCode<Result>(world: UserCodeWorld, call: () => Result): Result {
  return worlds.run(world, call);
}

/** The world of the user code that runs now; undefined outside of the simulation. */
export function currentWorld(): UserCodeWorld | undefined {
  return worlds.getStore();
}

/** Calls what belongs to the real machine; it sees nothing of the world around it. */
export function leaveUserCode<Result>(call: () => Result): Result {
  return worlds.exit(call);
}

/** The error for what reaches out of the simulation. */
export function refusal(world: UserCodeWorld, what: string, instead: string): Error {
  return userError(
    'REAL_ACCESS_REFUSED',
    `${world.where} called ${what}, which reaches out of the simulation: ${instead}`,
  );
}

/**
 * In user code of a test: says that the code that runs now takes so many milliseconds. Nothing else
 * happens on its thread meanwhile: no timer, no promise, no other call of the component.
 *
 * @example
 * ```ts
 * class SlowCount extends Count {
 *   override execute(tuple: Tuple<{ word: string }>): void {
 *     spend(20);
 *     super.execute(tuple);
 *   }
 * }
 * ```
 *
 * @throws EngineError INVALID_ARGUMENT outside of a component that the test kit runs.
 */
export function spend(ms: number): void {
  const world = currentWorld();
  if (world === undefined) {
    throw userError(
      'INVALID_ARGUMENT',
      'spend() belongs into the code of a component that testBolt, testSpout or testTopology runs',
    );
  }
  world.spend(ms);
}
