import { accessReplacements } from './real-access.ts';
import { type Replacement, Replacements, standInFor } from './replacements.ts';
import { timeReplacements } from './simulated-time.ts';
import { currentWorld, type UserCodeWorld } from './user-code.ts';

/*
  What user code finds in place of the machine while the kit runs it: time, randomness, and a
  refusal for what reaches out of the simulation. All of it is dispatched by the caller's world
  (U1), so that nobody else notices, and it is in place only while a simulation is being driven.
*/

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

const globals = new Replacements(() => [
  ...timeReplacements(),
  ...randomReplacements(),
  ...accessReplacements(),
]);

/** Puts the stand-ins into place until the result is disposed of. */
export function useSimulatedGlobals(): Disposable {
  return globals.use();
}

const UINT32_VALUES = 0x1_0000_0000;

/** `Math.random` and the functions of `crypto` that are asked for ids and tokens. */
function randomReplacements(): readonly Replacement[] {
  const crypto = process.getBuiltinModule('node:crypto');
  const web = Object.getPrototypeOf(globalThis.crypto) as object;
  return [
    { target: Math, key: 'random', make: seeded(fraction) },
    { target: crypto, key: 'randomUUID', make: seeded(uuid) },
    { target: web, key: 'randomUUID', make: seeded(uuid) },
    { target: crypto, key: 'randomInt', make: seeded(wholeNumber) },
    { target: crypto, key: 'randomBytes', make: seeded(bytes) },
    { target: web, key: 'getRandomValues', make: seeded(filled) },
  ];
}

/** `simulated` returns undefined for forms that it does not know; they stay what they are. */
function seeded(
  simulated: (world: UserCodeWorld, args: readonly unknown[]) => unknown,
): (original: AnyFunction) => AnyFunction {
  return (original) =>
    standInFor(original, function (...args) {
      const world = currentWorld();
      const value = world === undefined ? undefined : simulated(world, args);
      return value === undefined ? Reflect.apply(original, this, args) : value;
    });
}

function fraction({ random }: UserCodeWorld): number {
  return random.uint32() / UINT32_VALUES;
}

/** Version 4, by its bits. */
function uuid({ random }: UserCodeWorld): string {
  const id = Buffer.from(random.bytes(16));
  id[6] = ((id[6] ?? 0) & 0x0f) | 0x40;
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80;
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function wholeNumber({ random }: UserCodeWorld, args: readonly unknown[]): number | undefined {
  const [from, to] = args.length > 1 ? args : [0, args[0]];
  if (args.length > 2 || typeof from !== 'number' || typeof to !== 'number') return undefined;
  return from + Math.floor((random.uint32() / UINT32_VALUES) * (to - from));
}

function bytes({ random }: UserCodeWorld, [count, callback]: readonly unknown[]): unknown {
  if (typeof count !== 'number' || callback !== undefined) return undefined;
  return Buffer.from(random.bytes(count));
}

function filled({ random }: UserCodeWorld, [into]: readonly unknown[]): unknown {
  if (!ArrayBuffer.isView(into)) return undefined;
  const { buffer, byteOffset, byteLength } = into;
  new Uint8Array(buffer, byteOffset, byteLength).set(random.bytes(byteLength));
  return into;
}
