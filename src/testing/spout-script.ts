import { userError } from '../base/errors.ts';

/*
  Input for a spout that stands in for a real one: tuples, with faults among them.
*/

/** What happens at one place of the input besides a tuple. */
export type SpoutStep =
  | {
      readonly kind: 'emit';
      readonly stream: string;
      readonly values: unknown;
      readonly messageId: unknown;
    }
  | { readonly kind: 'crash'; readonly afterMs: number }
  | { readonly kind: 'throw'; readonly error: unknown; readonly afterMs: number }
  | { readonly kind: 'hang'; readonly ms: number }
  | { readonly kind: 'pause'; readonly ms: number };

/** A place in the input that is no plain tuple; made by the functions of this file. */
export class ScriptedStep {
  readonly step: SpoutStep;

  constructor(step: SpoutStep) {
    this.step = step;
  }
}

/** Long enough for what was emitted before to be processed. */
const QUIET_MS = 100;

/**
 * The process of the spout dies here, once, as by `kill -9`, and is started again; the input then
 * goes on with the next item.
 *
 * @param options.afterMs The spout is quiet for so long before it dies, so that what it has emitted
 *   is on its way: 100 simulated ms unless set. With 0 the last tuples may die with it.
 */
export function crashOnce({
  afterMs = QUIET_MS,
}: {
  readonly afterMs?: number;
} = {}): ScriptedStep {
  return new ScriptedStep({ kind: 'crash', afterMs });
}

/**
 * `nextTuple` throws this here, once: the instance ends and is started again; the input then goes
 * on with the next item.
 *
 * @param options.afterMs As for {@link crashOnce}.
 */
export function throwOnce(
  error: unknown = new Error('thrown by throwOnce()'),
  { afterMs = QUIET_MS }: { readonly afterMs?: number } = {},
): ScriptedStep {
  return new ScriptedStep({ kind: 'throw', error, afterMs });
}

/** `nextTuple` does not return for so long: no timer and no other call of the spout runs. */
export function hangFor(ms: number): ScriptedStep {
  return new ScriptedStep({ kind: 'hang', ms });
}

/** The spout has nothing to emit for so long. */
export function pauseFor(ms: number): ScriptedStep {
  return new ScriptedStep({ kind: 'pause', ms });
}

/** A tuple for another stream than the default one, or one with a message id. */
export function tupleFor(
  stream: string,
  values: unknown,
  options: { readonly messageId?: unknown } = {},
): ScriptedStep {
  return new ScriptedStep({ kind: 'emit', stream, values, messageId: options.messageId });
}

/** The input of one task of a spout. */
export type SpoutItems = readonly unknown[];

export interface SpoutFromOptions {
  /** False: the spout never ends, it just has nothing more. True unless set. */
  readonly ends?: boolean;
}

/** What {@link spoutFrom} returns. */
export class SpoutScript {
  /** The items of each task. */
  readonly itemsOf: (taskIndex: number, parallelism: number) => SpoutItems;
  readonly ends: boolean;

  constructor(itemsOf: SpoutScript['itemsOf'], ends: boolean) {
    this.itemsOf = itemsOf;
    this.ends = ends;
  }
}

/**
 * A spout for a test, which emits these items one by one and then ends. Give it to `testTopology`
 * in place of a component.
 *
 * Each item is what the real spout would give to `emit` (`{ word }`, or `[word]`); of a stream with
 * one field, also its value alone. Between the items there may be faults: {@link crashOnce},
 * {@link throwOnce}, {@link hangFor}, {@link pauseFor}. Where the spout is in its input survives
 * its crashes, as it would in a broker that keeps offsets.
 *
 * @param items An array, which several tasks share item by item; or a function that gives each task
 *   its own.
 *
 * @example
 * ```ts
 * await using run = await testTopology(wordCount, {
 *   components: { sentences: spoutFrom(['a b', crashOnce(), 'b c']) },
 * });
 * await run.toCompletion();
 * ```
 */
export function spoutFrom(
  items: SpoutItems | ((taskIndex: number, parallelism: number) => SpoutItems),
  { ends = true }: SpoutFromOptions = {},
): SpoutScript {
  if (typeof items === 'function') return new SpoutScript(items, ends);
  if (!Array.isArray(items)) {
    throw userError('INVALID_ARGUMENT', `spoutFrom() takes an array, not a ${typeof items}`);
  }
  const share = (taskIndex: number, parallelism: number): SpoutItems =>
    items.filter((_, index) => index % parallelism === taskIndex);
  return new SpoutScript(share, ends);
}
