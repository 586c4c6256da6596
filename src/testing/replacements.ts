import { syncBuiltinESMExports } from 'node:module';

/** A property of an object of the platform, and what stands in for it. */
export interface Replacement {
  readonly target: object;
  readonly key: PropertyKey;
  /** Given what is there, at the moment of the replacement. */
  readonly make: (original: never) => unknown;
}

interface StandIn {
  readonly target: object;
  readonly key: PropertyKey;
  /** What it was made for. */
  readonly original: unknown;
  readonly before: PropertyDescriptor | undefined;
  readonly inPlace: PropertyDescriptor;
}

/**
 * Puts stand-ins for parts of the platform into place, and takes them away again.
 *
 * S1. Whoever holds a use sees the stand-ins in place; with the last use they are gone, and the
 *     platform is as it was found.
 * S2. What somebody else has put over a stand-in meanwhile is left alone.
 * S3. Named imports of the platform's modules follow: `import { setTimeout } from 'node:timers'`.
 */
export class Replacements {
  readonly #wanted: () => readonly Replacement[];
  /** Kept between uses: making them costs ten times what putting them into place does. */
  #replacements: readonly Replacement[] | undefined;
  #standIns: readonly (StandIn | undefined)[] = [];
  #uses = 0;

  constructor(wanted: () => readonly Replacement[]) {
    this.#wanted = wanted;
  }

  use(): Disposable {
    this.#uses += 1;
    if (this.#uses === 1) this.#putInPlace();
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#uses -= 1;
        if (this.#uses === 0) this.#takeAway();
      },
    };
  }

  #putInPlace(): void {
    this.#replacements ??= this.#wanted();
    this.#standIns = this.#replacements.map((replacement, index) => {
      const { target, key } = replacement;
      const known = this.#standIns[index];
      const standIn =
        known !== undefined && Reflect.get(target, key) === known.original
          ? known
          : standInOf(replacement);
      if (standIn !== undefined) Object.defineProperty(target, key, standIn.inPlace);
      return standIn;
    });
    syncBuiltinESMExports();
  }

  #takeAway(): void {
    for (const standIn of this.#standIns) {
      if (standIn === undefined) continue;
      const { target, key, before, inPlace } = standIn;
      if (Reflect.get(target, key) !== inPlace.value) continue;
      if (before === undefined) Reflect.deleteProperty(target, key);
      else Object.defineProperty(target, key, before);
    }
    syncBuiltinESMExports();
  }
}

/** Undefined for what the platform does not have, or does not let anybody replace. */
function standInOf({ target, key, make }: Replacement): StandIn | undefined {
  const before = Object.getOwnPropertyDescriptor(target, key);
  const original: unknown = Reflect.get(target, key);
  if (before?.configurable === false || original === undefined) return undefined;
  const inPlace = {
    value: make(original as never),
    configurable: true,
    writable: true,
    enumerable: before?.enumerable ?? false,
  };
  return { target, key, original, before, inPlace };
}

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

/**
 * A function in place of another one, with everything that hangs on it, such as the form that
 * `promisify` takes, or the prototype of a class.
 */
export function standInFor(original: AnyFunction, standIn: AnyFunction): AnyFunction {
  for (const key of Reflect.ownKeys(original)) {
    if (key === 'prototype') {
      standIn.prototype = original.prototype;
      continue;
    }
    const descriptor = Object.getOwnPropertyDescriptor(original, key) as PropertyDescriptor;
    Object.defineProperty(standIn, key, { ...descriptor, configurable: true });
  }
  return standIn;
}
