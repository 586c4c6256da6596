import type { Mode } from '../../../src/simulation/scenario/mode.ts';
import type { Interposer } from '../../../src/simulation/machine/interposer.ts';

/**
 * Something that the engine could do wrong, and who has to notice. The engine itself is as it is:
 * what is wrong is a collaborator that some process is given, or for what no collaborator decides,
 * a method that is replaced while the run lasts.
 */
export interface Defect {
  readonly name: string;
  /** The checker that says so. */
  readonly foundBy: string;
  /** Pinned ones, which pass without the defect; one of them is enough. */
  readonly seeds: readonly number[];
  /** Of the scenarios that the seeds make; at most once unless given. */
  readonly mode?: Mode;
  /** Whether the topologies change while they run. False unless given. */
  readonly hasChanges?: boolean;
  /** Made anew for each run. */
  readonly interposer?: () => Interposer;
  /** Returns what undoes it. */
  readonly replace?: () => () => void;
}

/** The names of what complains that is no checker's. */
export const RUN_ENDS = 'the run comes to its end';

/** Replaces a method or getter of a class until the returned function is called. */
export function replaced<Class extends object>(
  prototype: Class,
  key: keyof Class & string,
  by: (original: PropertyDescriptor) => PropertyDescriptor,
): () => void {
  const original = Object.getOwnPropertyDescriptor(prototype, key);
  if (original === undefined) throw new Error(`the class has no '${key}' of its own any more`);
  Object.defineProperty(prototype, key, { ...original, ...by(original) });
  return () => void Object.defineProperty(prototype, key, original);
}

/** A port as it is but for some of its methods. */
export function lying<Port extends object>(port: Port, lies: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, key) {
      const lie: unknown = Reflect.get(lies, key);
      if (lie !== undefined) return lie;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
