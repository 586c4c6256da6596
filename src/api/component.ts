import { type Emitter, UNATTACHED } from './emitter.ts';
import type { TopologyContext } from './topology-context.ts';
import type { StreamDeclarations } from './streams.ts';

/*
  What spouts and bolts have in common. The engine recognises a component by symbols from the
  global registry and not by `instanceof`, so that a second copy of this package in a user's bundle
  does no harm.
*/

/** The kind of a component; on the prototype of its base class. */
export const KIND: unique symbol = Symbol.for('heron-ts.component.kind');
/** The declared streams; on the prototype of the class that `of` made. */
export const OUTPUTS: unique symbol = Symbol.for('heron-ts.component.outputs');
/** On the prototype of a base class whose spouts lose no message (model/replaying-spouts.ts). */
export const REPLAYS: unique symbol = Symbol.for('heron-ts.component.replays');
/** Where emitted tuples go; set when the component is attached to an instance. */
export const EMITTER: unique symbol = Symbol.for('heron-ts.component.emitter');

export type ComponentKind = 'spout' | 'bolt' | 'basic-bolt';

/** The base of {@link Spout}, {@link Bolt} and {@link BasicBolt}. */
export abstract class Component {
  /** For the engine. */
  declare readonly [KIND]: ComponentKind;
  /** For the engine. */
  abstract readonly [OUTPUTS]: StreamDeclarations;
  /** For the engine. */
  [EMITTER]: Emitter = UNATTACHED;

  /**
   * Called when the plan of the topology has changed: its tasks and their places, its settings, or
   * whether it is paused. Not for what no component can see, such as the address of a process that
   * was started again. The context shows the new plan, custom groupings know their new tasks.
   *
   * Called between two other calls, before `activate` or `deactivate`, and never before `open` or
   * `prepare` has returned; with `topology.bolt.concurrency` beside promises of `execute` that are
   * pending. A promise is awaited; an error ends the instance, as one of any other method. Of
   * several changes that come while it waits to be called, it sees the last.
   */
  update(_context: TopologyContext): void | Promise<void> {}

  /**
   * Makes an error known to whoever looks at the topology: it is logged, counted, and shown by
   * `heron status`. Processing goes on.
   */
  reportError(error: unknown): void {
    this[EMITTER].collector.reportError(error);
  }
}

/** Puts what all instances of a class share onto its prototype. */
export function declareComponent(
  prototype: object,
  facts:
    | { readonly kind: ComponentKind }
    | { readonly outputs: StreamDeclarations }
    | { readonly replays: true },
): void {
  if ('kind' in facts) Object.defineProperty(prototype, KIND, { value: facts.kind });
  else if ('replays' in facts) Object.defineProperty(prototype, REPLAYS, { value: true });
  else Object.defineProperty(prototype, OUTPUTS, { value: facts.outputs });
}
