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
   * Called whenever the topology's plan has changed: its tasks, or whether it is paused. The
   * context shows the new plan. Called between two other calls, and before `activate` or
   * `deactivate`.
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
