import { componentName, streamName, taskId } from '../base/ids.ts';
import { type AnyTuple, Tuple, TupleOrigin } from './tuple.ts';

/** What a bolt with `topology.tick.tuple.freq.ms` receives at that interval. */
export type TickTuple = Tuple<{ readonly intervalMs: number }>;

const ORIGIN = new TupleOrigin(componentName('__system'), streamName('__tick'), ['intervalMs']);
/** It comes from no task. */
const NO_TASK = taskId(-1);

/**
 * Whether a tuple is a tick, for bolts that treat ticks in `execute` and not by a method `tick`.
 *
 * @example
 * ```ts
 * execute(tuple: Tuple): void {
 *   if (isTick(tuple)) this.#flush();
 *   else this.#add(tuple.get('word'));
 * }
 * ```
 */
export function isTick(tuple: AnyTuple): boolean {
  // By name: a second copy of this package may have made it.
  const { component, stream } = tuple.origin;
  return stream === ORIGIN.stream && component === ORIGIN.component;
}

/** For the engine. */
export function tickTuple(intervalMs: number): TickTuple {
  return new Tuple(ORIGIN, NO_TASK, [intervalMs]);
}
