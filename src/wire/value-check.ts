/** Deeper values are refused: packing and reading them would exhaust the stack. */
const DEPTH_MAX = 256;

/** Classes whose objects are sent whole; Date by its class, not for the time. */
const LEAVES: ReadonlySet<unknown> = new Set([
  // oxlint-disable-next-line no-restricted-globals
  Date.prototype,
  Int8Array.prototype,
  Uint8Array.prototype,
  Uint8ClampedArray.prototype,
  Int16Array.prototype,
  Uint16Array.prototype,
  Int32Array.prototype,
  Uint32Array.prototype,
  Float32Array.prototype,
  Float64Array.prototype,
  BigInt64Array.prototype,
  BigUint64Array.prototype,
  Buffer.prototype,
]);

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/**
 * Finds what cannot be sent inside a value, before it is packed. A part that occurs at several
 * places may be sent, and is one part again when it arrives; a value that contains itself may not.
 *
 * A problem is told from the inside out: each level puts its own step in front, so that a value
 * that is fine costs no text. `.items[3].callback: a function cannot be sent`.
 */
export class ValueCheck {
  /** After a check without problems: there is a -0 inside. */
  hasNegativeZero = false;
  /** Each object is looked at once; true while what is in it is looked at. */
  readonly #seen = new Map<object, boolean>();
  #depth = 0;

  /** What is wrong and where, or undefined. */
  problemOf(value: unknown): string | undefined {
    switch (typeof value) {
      case 'string':
        return value.isWellFormed() ? undefined : cannot('half of a surrogate pair');
      case 'number':
        if (value === 0 && Object.is(value, -0)) this.hasNegativeZero = true;
        return undefined;
      case 'function':
        return cannot('a function');
      case 'symbol':
        return cannot('a symbol');
      case 'object':
        return value === null ? undefined : this.#problemOfObject(value);
      case 'bigint':
      case 'boolean':
      case 'undefined':
      default:
        return undefined;
    }
  }

  #problemOfObject(value: object): string | undefined {
    const isAround = this.#seen.get(value);
    if (isAround !== undefined) return isAround ? cannot('what contains itself') : undefined;
    this.#seen.set(value, true);
    if (this.#depth === DEPTH_MAX) return cannot(`what is nested more than ${DEPTH_MAX} deep`);
    this.#depth += 1;
    const problem = this.#problemInside(value);
    this.#depth -= 1;
    this.#seen.set(value, false);
    return problem;
  }

  #problemInside(value: object): string | undefined {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === Object.prototype || prototype === null) return this.#problemInPlain(value);
    if (prototype === Array.prototype) return this.#problemInArray(value as readonly unknown[]);
    if (prototype === Map.prototype)
      return this.#problemInMap(value as ReadonlyMap<unknown, unknown>);
    if (prototype === Set.prototype) return this.#problemInSet(value as ReadonlySet<unknown>);
    if (LEAVES.has(prototype)) return undefined;
    return cannot(`an object of class ${className(value)}`);
  }

  #problemInPlain(value: object): string | undefined {
    for (const [key, element] of Object.entries(value)) {
      const problem = problemOfKey(key) ?? this.problemOf(element);
      if (problem !== undefined) return step(key) + problem;
    }
    return Object.getOwnPropertySymbols(value).length === 0
      ? undefined
      : cannot('a property whose key is a symbol');
  }

  #problemInArray(values: readonly unknown[]): string | undefined {
    for (let index = 0; index < values.length; index += 1) {
      const element = values[index];
      const isHole = element === undefined && !(index in values);
      const problem = isHole ? cannot('a hole in an array') : this.problemOf(element);
      if (problem !== undefined) return `[${index}]${problem}`;
    }
    return undefined;
  }

  #problemInMap(map: ReadonlyMap<unknown, unknown>): string | undefined {
    let index = 0;
    for (const [key, element] of map) {
      const keyProblem = this.problemOf(key);
      if (keyProblem !== undefined) return `.keys()[${index}]${keyProblem}`;
      const problem = this.problemOf(element);
      if (problem !== undefined) return `.values()[${index}]${problem}`;
      index += 1;
    }
    return undefined;
  }

  #problemInSet(set: ReadonlySet<unknown>): string | undefined {
    let index = 0;
    for (const element of set) {
      const problem = this.problemOf(element);
      if (problem !== undefined) return `.values()[${index}]${problem}`;
      index += 1;
    }
    return undefined;
  }
}

function cannot(what: string): string {
  return `: ${what} cannot be sent`;
}

function problemOfKey(key: string): string | undefined {
  if (key === '__proto__') return cannot('a property of this name');
  return key.isWellFormed() ? undefined : cannot('a property with half of a surrogate pair');
}

function step(key: string): string {
  return IDENTIFIER.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function className(value: object): string {
  const { constructor } = value;
  return typeof constructor === 'function' && constructor.name !== ''
    ? constructor.name
    : 'unknown';
}
