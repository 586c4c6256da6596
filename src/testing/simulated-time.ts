import { promisify } from 'node:util';
import type { Clock } from '../base/clock.ts';
import { type Replacement, standInFor } from './replacements.ts';
import {
  SimulatedTimer,
  simulatedDelay,
  simulatedImmediate,
  simulatedInterval,
  simulatedTicks,
  simulatedTimeout,
  simulatedTurn,
} from './simulated-timers.ts';
import { currentWorld } from './user-code.ts';

/*
  Time as user code sees it: each function asks whether it was called by simulated user code, and
  otherwise is what it was.
*/

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

const NS_PER_MS = 1e6;
const MS_PER_SECOND = 1_000;

/** Everything that tells the time or waits for it. */
export function timeReplacements(): readonly Replacement[] {
  const timers = process.getBuiltinModule('node:timers');
  const promises = process.getBuiltinModule('node:timers/promises');
  const callbackTimers = [globalThis, timers].flatMap((target) => CALLBACK_TIMERS.map(on(target)));
  return [
    ...callbackTimers,
    ...PROMISE_TIMERS.map(on(promises)),
    on(promises.scheduler)([
      'wait',
      inWorld((clock, [ms, options]) => delayed(clock, ms, options)),
    ]),
    { target: globalThis, key: 'Date', make: simulatedDate },
    on(Object.getPrototypeOf(Reflect.get(globalThis, 'performance')) as object)([
      'now',
      inWorld((clock) => clock.now()),
    ]),
    on(AbortSignal)(['timeout', inWorld((clock, [ms]) => timeoutSignal(clock, ms))]),
    { target: process, key: 'hrtime', make: simulatedHighResolutionTime },
  ];
}

type Timing = readonly [key: string, make: (original: AnyFunction) => AnyFunction];

const CALLBACK_TIMERS: readonly Timing[] = [
  [
    'setTimeout',
    withPromisified(timer(simulatedTimeout), (c, [ms, v]) => simulatedDelay(c, ms, v)),
  ],
  ['setInterval', timer(simulatedInterval)],
  [
    'setImmediate',
    withPromisified(
      inWorld((clock, [callback, ...args]) => simulatedImmediate(clock, callback as never, args)),
      (clock, [value]) => simulatedTurn(clock, value),
    ),
  ],
  ['clearTimeout', clear],
  ['clearInterval', clear],
  ['clearImmediate', clear],
];

const PROMISE_TIMERS: readonly Timing[] = [
  [
    'setTimeout',
    inWorld((clock, [ms, value, options]) => simulatedDelay(clock, ms, value, options as never)),
  ],
  [
    'setImmediate',
    inWorld((clock, [value, options]) => simulatedTurn(clock, value, options as never)),
  ],
  [
    'setInterval',
    inWorld((clock, [ms, value, options]) => simulatedTicks(clock, ms, value, options as never)),
  ],
];

function on(target: object): (timing: Timing) => Replacement {
  return ([key, make]) => ({ target, key, make });
}

function inWorld(
  simulated: (clock: Clock, args: readonly unknown[]) => unknown,
): (original: AnyFunction) => AnyFunction {
  return (original) =>
    standInFor(original, function (...args) {
      const world = currentWorld();
      if (world === undefined) return Reflect.apply(original, this, args);
      return simulated(world.clock, args);
    });
}

function timer(start: typeof simulatedTimeout): (original: AnyFunction) => AnyFunction {
  return inWorld((clock, [callback, ms, ...args]) => start(clock, callback as never, ms, args));
}

/** What is cleared may have been made in the other world, so the timer itself tells. */
function clear(original: AnyFunction): AnyFunction {
  return standInFor(original, (handle) => {
    if (handle instanceof SimulatedTimer) handle.close();
    else original(handle);
  });
}

/** `promisify(setTimeout)` is a function of its own. */
function withPromisified(
  make: (original: AnyFunction) => AnyFunction,
  simulated: (clock: Clock, args: readonly unknown[]) => unknown,
): (original: AnyFunction) => AnyFunction {
  return (original) => {
    const promisified = Reflect.get(original, promisify.custom) as AnyFunction | undefined;
    const standIn = make(original);
    if (promisified === undefined) return standIn;
    const value = inWorld(simulated)(promisified);
    return Object.defineProperty(standIn, promisify.custom, { value, configurable: true });
  };
}

function simulatedDate(original: DateConstructor): DateConstructor {
  const simulatedNow = (): number | undefined => {
    const world = currentWorld();
    return world === undefined ? undefined : Math.floor(world.clock.wallNow());
  };
  const now = (): number => simulatedNow() ?? original.now();
  return new Proxy(original, {
    construct(target, args: unknown[], newTarget) {
      const atMs = args.length === 0 ? simulatedNow() : undefined;
      return Reflect.construct(target, atMs === undefined ? args : [atMs], newTarget) as Date;
    },
    apply: (target) => new target(now()).toString(),
    get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  });
}

function simulatedHighResolutionTime(original: NodeJS.HRTime): NodeJS.HRTime {
  const simulated = (clock: Clock, since?: [number, number]): [number, number] => {
    const [seconds, nanoseconds] = since ?? [0, 0];
    const ms = clock.now() - seconds * MS_PER_SECOND - nanoseconds / NS_PER_MS;
    const whole = Math.floor(ms / MS_PER_SECOND);
    return [whole, Math.round((ms - whole * MS_PER_SECOND) * NS_PER_MS)];
  };
  const hrtime = (since?: [number, number]): [number, number] => {
    const world = currentWorld();
    return world === undefined ? original(since) : simulated(world.clock, since);
  };
  const bigint = (): bigint => {
    const world = currentWorld();
    return world === undefined
      ? original.bigint()
      : BigInt(Math.round(world.clock.now() * NS_PER_MS));
  };
  return Object.assign(hrtime, { bigint });
}

function delayed(clock: Clock, ms: unknown, options: unknown): Promise<unknown> {
  return simulatedDelay(clock, ms, undefined, options as never);
}

function timeoutSignal(clock: Clock, ms: unknown): AbortSignal {
  const controller = new AbortController();
  clock.after(Number(ms), () => {
    const text = 'The operation was aborted due to timeout';
    controller.abort(new DOMException(text, 'TimeoutError'));
  });
  return controller.signal;
}
