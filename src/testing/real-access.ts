import { type Replacement, standInFor } from './replacements.ts';
import { inItsContext } from './simulated-timers.ts';
import {
  currentWorld,
  leaveUserCode,
  type RealAccess,
  refusal,
  type UserCodeWorld,
} from './user-code.ts';

/*
  What reaches out of the simulation. Called by user code it is refused, or, where the test allows
  it, done for real while simulated time stands still.

  Files may be read by the synchronous functions: the answer is there at once and always the same,
  and `require` reads in this way.
*/

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown;

export function accessReplacements(): readonly Replacement[] {
  return [
    {
      target: globalThis,
      key: 'fetch',
      make: (original: AnyFunction) =>
        guarded(original, { what: 'fetch', access: 'fetch', real: fetched }),
    },
    ...networkReplacements(),
    ...processReplacements(),
    ...fileReplacements(),
  ];
}

/** Sockets of every kind: HTTP, HTTPS and TLS open theirs by these methods. */
function networkReplacements(): readonly Replacement[] {
  const { Socket, Server } = process.getBuiltinModule('node:net');
  const datagrams = process.getBuiltinModule('node:dgram');
  const names = process.getBuiltinModule('node:dns');
  return [
    refused(globalThis, 'WebSocket', 'new WebSocket'),
    refused(globalThis, 'EventSource', 'new EventSource'),
    refused(Socket.prototype, 'connect', 'connect of a socket (node:net, node:http)'),
    refused(Server.prototype, 'listen', 'listen of a server (node:net, node:http)'),
    refused(datagrams.Socket.prototype, 'bind', 'bind (node:dgram)'),
    refused(datagrams.Socket.prototype, 'send', 'send (node:dgram)'),
    ...['lookup', 'resolve'].flatMap((key) => [
      refused(names, key, `${key} (node:dns)`),
      refused(names.promises, key, `${key} (node:dns/promises)`),
    ]),
  ];
}

function processReplacements(): readonly Replacement[] {
  const children = process.getBuiltinModule('node:child_process');
  const threads = process.getBuiltinModule('node:worker_threads');
  return [
    // Underneath spawn, exec, execFile and fork.
    refused(children.ChildProcess.prototype, 'spawn', 'spawn (node:child_process)'),
    ...['spawnSync', 'execSync', 'execFileSync'].map((key) =>
      refused(children, key, `${key} (node:child_process)`),
    ),
    refused(threads, 'Worker', 'new Worker (node:worker_threads)'),
    refused(process, 'exit', 'process.exit', 'throw an error to end the instance'),
    refused(process, 'kill', 'process.kill', 'throw an error to end the instance'),
  ];
}

/** They only look, and answer at once. */
const SYNCHRONOUS_READS: ReadonlySet<string> = new Set(
  (
    'access exists glob readdir readFile readlink realpath stat lstat statfs open read readv ' +
    'fstat close opendir'
  )
    .split(' ')
    .map((name) => `${name}Sync`),
);

function fileReplacements(): readonly Replacement[] {
  const files = process.getBuiltinModule('node:fs');
  return [
    ...namesOfFunctions(files)
      .filter((name) => !SYNCHRONOUS_READS.has(name))
      .map((name) => fileReplacement(files, name, 'node:fs')),
    ...namesOfFunctions(files.promises).map((name) =>
      fileReplacement(files.promises, name, 'node:fs/promises'),
    ),
  ];
}

/** Classes begin with a capital, and what is internal with an underscore. */
function namesOfFunctions(module: object): readonly string[] {
  return Object.keys(module).filter(
    (name) => /^[a-z]/.test(name) && typeof Reflect.get(module, name) === 'function',
  );
}

function fileReplacement(target: object, key: string, module: string): Replacement {
  const real = key === 'open' && module === 'node:fs/promises' ? openedFile : awaited;
  const make = (original: AnyFunction): AnyFunction =>
    guarded(original, { what: `${key} (${module})`, access: 'files', real });
  return { target, key, make };
}

function refused(
  target: object,
  key: string,
  what: string,
  instead = 'give the component a client that the test replaces',
): Replacement {
  return { target, key, make: (original: AnyFunction) => guarded(original, { what, instead }) };
}

type RealCall = (world: UserCodeWorld, call: AnyFunction, args: readonly unknown[]) => unknown;

interface Guard {
  readonly what: string;
  readonly instead?: string;
  /** What a test has to allow; absent where it cannot. */
  readonly access?: RealAccess;
  readonly real?: RealCall;
}

const INSTEAD: Readonly<Record<RealAccess, string>> = {
  fetch:
    'give the component a client that the test replaces, or allow it with ' +
    "{ allow: ['fetch'] }",
  files:
    'read with the synchronous functions, give the component the content, or allow it with ' +
    "{ allow: ['files'] }",
};

/** A function or class that user code in the simulation can use only where that is allowed. */
function guarded(
  original: AnyFunction,
  { what, instead, access, real = awaited }: Guard,
): AnyFunction {
  return standInFor(original, function (...args) {
    const world = currentWorld();
    if (world !== undefined && (access === undefined || !world.allowed.has(access))) {
      throw refusal(world, what, access === undefined ? (instead ?? '') : INSTEAD[access]);
    }
    if (new.target !== undefined) return Reflect.construct(original, args, new.target);
    if (world === undefined) return Reflect.apply(original, this, args);
    return real(world, (...given) => Reflect.apply(original, this, given), args);
  });
}

/** Simulated time stands until the answer is there, by callback or by promise. */
function awaited(world: UserCodeWorld, call: AnyFunction, args: readonly unknown[]): unknown {
  const callback = args.at(-1);
  if (typeof callback !== 'function') {
    const returned: unknown = call(...args);
    return returned instanceof Promise ? world.outside(returned) : returned;
  }
  const answer = Promise.withResolvers<readonly unknown[]>();
  const passOn = async (): Promise<void> => {
    const given = await world.outside(answer.promise);
    world.post(inItsContext(callback as AnyFunction, given));
  };
  void passOn();
  return call(...args.slice(0, -1), (...given: unknown[]) => answer.resolve(given));
}

/** With its body, which would otherwise arrive while time goes on. */
function fetched(world: UserCodeWorld, call: AnyFunction, args: readonly unknown[]): unknown {
  const answer = async (): Promise<Response> => {
    const response = (await leaveUserCode(() => call(...args))) as Response;
    const whole = new Response(await bodyOf(response), response);
    return Object.defineProperty(whole, 'url', { value: response.url });
  };
  return world.outside(answer());
}

/** Some statuses must not have a body, not even an empty one. */
async function bodyOf(response: Response): Promise<ArrayBuffer | null> {
  return response.body === null ? null : response.arrayBuffer();
}

/** What a handle is asked for later is awaited too. */
function openedFile(world: UserCodeWorld, call: AnyFunction, args: readonly unknown[]): unknown {
  const open = async (): Promise<object> => {
    const handle = (await call(...args)) as object;
    for (const [key, method] of methodsOf(handle)) {
      const value: AnyFunction = (...given) => {
        const returned: unknown = Reflect.apply(method, handle, given);
        return returned instanceof Promise ? world.outside(returned) : returned;
      };
      Object.defineProperty(handle, key, { value, configurable: true });
    }
    return handle;
  };
  return world.outside(open());
}

/** Its own and those of its class, without those of an event emitter; accessors are left alone. */
function methodsOf(handle: object): readonly (readonly [string, AnyFunction])[] {
  return [Object.getPrototypeOf(handle) as object, handle]
    .flatMap((owner) => Object.entries(Object.getOwnPropertyDescriptors(owner)))
    .flatMap(([key, { value }]) =>
      typeof value === 'function' && key !== 'constructor'
        ? [[key, value as AnyFunction] as const]
        : [],
    );
}
