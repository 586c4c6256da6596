import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ProcessContext } from '../../../../src/base/process-main.ts';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import type { MainEnvironment } from '../../../../src/simulation/machine/interposer.ts';
import { SimulatedMachine } from '../../../../src/simulation/machine/simulated-machine.ts';
import type { SimulatedProcess } from '../../../../src/simulation/machine/simulated-process.ts';
import { processTableOf } from '../../../../src/simulation/machine/simulated-process-table.ts';
import { readPidFile } from '../../../../src/supervision/pid-file.ts';
import type { ProcessHandle } from '../../../../src/supervision/process-handle.ts';
import type { Command, ProcessTable } from '../../../../src/supervision/process-table.ts';

type Main = (context: ProcessContext, environment: MainEnvironment) => Promise<object>;

/** Long enough for everything that a test starts. */
const LONG_MS = 10_000;

const stays: Main = async (_context, environment) => {
  environment.clock.every(1000, () => {});
  return {};
};

/** A machine whose processes run these functions, by the first word of their command lines. */
class World {
  readonly kernel = new Kernel({ seed: 1 });
  readonly machine: SimulatedMachine;
  readonly shell: SimulatedProcess;
  readonly table: ProcessTable;

  constructor(mains: Readonly<Record<string, Main>> = {}) {
    this.machine = new SimulatedMachine({
      kernel: this.kernel,
      hosts: ['10.0.0.1', '10.0.0.2'],
      loadTopology: () => assert.fail('nothing is loaded'),
      programs: ([program = '', ...args]) => ({
        program: { options: { name: program }, main: { stays, ...mains }[program] ?? stays },
        arguments: args,
      }),
    });
    this.shell = this.machine.startBare('shell');
    this.table = processTableOf(
      this.machine,
      this.shell,
      this.machine.disk.filesOf(this.shell.mainThread),
    );
  }

  dependent(command: Partial<Command> = {}): ProcessHandle {
    return this.table.startDependent(aCommand(command), () => ({
      append: () => true,
      close: () => {},
    }));
  }

  detached(command: Partial<Command> = {}): ProcessHandle {
    return this.table.startDetached(aCommand(command), '/child.out');
  }

  async advance(ms = LONG_MS): Promise<void> {
    await this.kernel.advance(ms);
  }

  isAlive({ pid }: ProcessHandle): boolean {
    return pid !== undefined && this.table.identityOf(pid) !== undefined;
  }
}

function aCommand(fields: Partial<Command>): Command {
  return {
    name: 'child',
    executable: 'node',
    arguments: ['stays'],
    environment: {},
    workingDirectory: '/',
    pidFolder: undefined,
    ...fields,
  };
}

/** What a promise has settled with by now. */
function watch<Value>(promise: Promise<Value>): { value: Value | undefined } {
  const seen: { value: Value | undefined } = { value: undefined };
  void promise.then((value) => {
    seen.value = value;
    return undefined;
  });
  return seen;
}

suite('the end of a process', () => {
  test('main gives the object, and what follows the program as arguments', async () => {
    const seen: string[] = [];
    const made = {};
    const world = new World({
      echo: async (_context, environment) => {
        seen.push(...environment.arguments, environment.workingDirectory, `${environment.pid}`);
        environment.clock.every(1000, () => {});
        return made;
      },
    });
    const { pid } = world.dependent({ arguments: ['echo', '--one', '--two'] });
    await world.advance();
    assert.deepEqual(seen, ['--one', '--two', '/', `${pid}`]);
    assert.equal(world.machine.find(pid ?? 0)?.object, made);
  });

  test('an orderly end: hooks run, and its parent gets the code and the last lines', async () => {
    const seen: string[] = [];
    const world = new World({
      polite: async (context, environment) => {
        environment.clock.every(1000, () => {});
        context.onShutdown((reason) => void seen.push(reason));
        return {};
      },
    });
    const child = world.dependent({ arguments: ['polite'] });
    const ending = watch(child.ended);
    await world.advance(1000);
    child.signal('SIGTERM');
    await world.advance(1000);
    assert.deepEqual(seen, ['SIGTERM']);
    assert.deepEqual(ending.value, { code: 0, signal: null, lastLines: [] });
    assert.equal(world.isAlive(child), false);
  });

  test('SIGTERM ends a process that does not listen yet', async () => {
    const world = new World();
    const child = world.dependent();
    const ending = watch(child.ended);
    child.signal('SIGTERM');
    await world.advance(10);
    assert.equal(ending.value?.signal, 'SIGTERM');
  });

  test('SIGKILL ends at once, also a paused one, and runs nothing more of it', async () => {
    let ticks = 0;
    const world = new World({
      ticks: async (context, environment) => {
        context.onShutdown(() => assert.fail('killed processes have no shutdown'));
        environment.clock.every(10, () => {
          ticks += 1;
        });
        return {};
      },
    });
    const child = world.dependent({ arguments: ['ticks'] });
    const ending = watch(child.ended);
    await world.advance(1000);
    assert.ok(ticks > 50);
    world.machine.find(child.pid ?? 0)?.pause();
    const before = ticks;
    await world.advance(1000);
    assert.equal(ticks, before);
    child.signal('SIGKILL');
    assert.equal(world.isAlive(child), false);
    await world.advance(1000);
    assert.equal(ticks, before);
    assert.equal(ending.value?.signal, 'SIGKILL');
  });

  test('a paused process goes on when it is resumed, and hears signals then', async () => {
    const world = new World();
    const child = world.dependent();
    const ending = watch(child.ended);
    await world.advance(1000);
    const process = world.machine.find(child.pid ?? 0);
    process?.pause();
    assert.equal(process?.state, 'paused');
    child.signal('SIGTERM');
    await world.advance(1000);
    assert.ok(world.isAlive(child));
    process?.resume();
    await world.advance(1000);
    assert.equal(ending.value?.code, 0);
  });

  for (const [kind, fail] of [
    ['exception', () => assert.fail('by intent')],
    ['rejection', () => void Promise.reject(new Error('by intent'))],
  ] as const) {
    test(`an uncaught ${kind} ends it with code 1 and its reason, and nobody else`, async () => {
      const world = new World({
        fails: async (_context, environment) => {
          environment.clock.after(100, fail);
          return {};
        },
      });
      const child = world.dependent({ arguments: ['fails'] });
      const ending = watch(child.ended);
      await world.advance();
      assert.equal(ending.value?.code, 1);
      assert.match(ending.value.lastLines[0] ?? '', new RegExp(`ends by an? ${kind}: by intent`));
      assert.equal(world.shell.state, 'running');
      const [exit] = world.machine.exits;
      assert.match(exit?.reason ?? '', /by intent/);
    });
  }

  test('code that ends its process in the middle of an event has no further effect', async () => {
    const world = new World({
      quits: async (context, environment) => {
        const { files, clock, processes, pid } = environment;
        const log = environment.openLog({
          file: '/log',
          level: 'info',
          name: 'quits',
          maxBytes: 1,
          filesMax: 1,
        });
        clock.after(10, () => {
          processes.signal(pid, 'SIGKILL');
          context.stop();
          log.info('after the end');
          files.writeNow('/after-the-end', Buffer.from('x'));
          processes.signal(world.shell.pid, 'SIGKILL');
          processes.startDetached(aCommand({ name: 'orphan' }), '/orphan.out');
        });
        return {};
      },
    });
    const child = world.dependent({ arguments: ['quits'] });
    const ending = watch(child.ended);
    await world.advance();
    assert.equal(ending.value?.signal, 'SIGKILL');
    assert.equal(world.machine.exits.length, 1);
    assert.deepEqual(
      world.machine.processes.map(({ name }) => name),
      ['shell'],
    );
    assert.equal(world.machine.disk.tree.exists('/after-the-end'), false);
    assert.doesNotMatch(world.kernel.log.text, /after the end/);
  });
});

suite('parents and children', () => {
  const startsChild =
    (mode: 'startDependent' | 'startDetached'): Main =>
    async (_context, environment) => {
      const grandchild = aCommand({ name: 'grandchild' });
      if (mode === 'startDetached') environment.processes.startDetached(grandchild, '/out');
      else {
        environment.processes.startDependent(grandchild, () =>
          environment.openAppendFile({ file: '/out', bytesMax: 1, filesMax: 1 }),
        );
      }
      environment.clock.every(1000, () => {});
      return {};
    };

  const names = (world: World): readonly string[] =>
    world.machine.processes.map(({ name }) => name);

  test('a dependent child ends with its parent, however that ends', async () => {
    const world = new World({ parent: startsChild('startDependent') });
    const parent = world.dependent({ arguments: ['parent'] });
    await world.advance();
    assert.deepEqual(names(world), ['shell', 'child', 'grandchild']);
    parent.signal('SIGKILL');
    await world.advance();
    assert.deepEqual(names(world), ['shell']);
    assert.equal(world.machine.exits.at(-1)?.code, 0);
  });

  test('a child whose parent died before its own first line ends, too', async () => {
    const world = new World({ parent: startsChild('startDependent') });
    const parent = world.dependent({ arguments: ['parent'] });
    await world.kernel.run(() => names(world).includes('grandchild'), {
      simulatedMsMax: LONG_MS,
      eventsMax: 1000,
    });
    parent.signal('SIGKILL');
    await world.advance();
    assert.deepEqual(names(world), ['shell']);
  });

  test('a parent hears of the end of its child when it runs', async () => {
    const world = new World();
    const child = world.dependent();
    const ending = watch(child.ended);
    await world.advance(1000);
    world.shell.pause();
    child.signal('SIGKILL');
    await world.advance(1000);
    assert.deepEqual(Object.values(ending), [undefined]);
    world.shell.resume();
    await world.advance(1000);
    assert.equal(ending.value?.signal, 'SIGKILL');
  });

  test('a detached child outlives its parent', async () => {
    const world = new World({ parent: startsChild('startDetached') });
    const parent = world.dependent({ arguments: ['parent'] });
    await world.advance();
    parent.signal('SIGKILL');
    await world.advance();
    assert.deepEqual(names(world), ['shell', 'grandchild']);
  });

  test('a child that says ready is heard, in an event of its parent', async () => {
    const world = new World({
      ready: async (_context, environment) => {
        environment.clock.after(500, () => environment.sayReady());
        return {};
      },
    });
    const child = world.dependent({ arguments: ['ready'], saysReady: true });
    let by: unknown;
    void child.ready?.then(() => {
      by = world.kernel.runningThread;
      return undefined;
    });
    await world.advance(500);
    assert.equal(by, undefined);
    await world.advance(1000);
    assert.equal(by, world.shell.mainThread);
  });

  test('a pid file names a child while it lives', async () => {
    const world = new World();
    const files = world.machine.disk.filesOf(world.shell.mainThread);
    const child = world.dependent({ pidFolder: '/' });
    assert.deepEqual(readPidFile(files, '/', 'child'), world.table.identityOf(child.pid ?? 0));
    await world.advance(1000);
    child.signal('SIGKILL');
    await world.advance(1000);
    assert.equal(readPidFile(files, '/', 'child'), undefined);
  });

  test('a child whose pid file cannot be written does not live on', async () => {
    const world = new World();
    const child = world.dependent({ pidFolder: '/missing' });
    const ending = watch(child.ended);
    await world.advance(1000);
    assert.equal(child.pid, undefined);
    assert.match(ending.value?.startProblem ?? '', /child cannot be started: .*ENOENT/);
    assert.deepEqual(names(world), ['shell']);
  });

  test('the last lines of a detached child are in its output file', async () => {
    const world = new World({
      fails: async () => {
        throw new Error('by intent');
      },
    });
    const child = world.detached({ arguments: ['fails'] });
    const ending = watch(child.ended);
    await world.advance();
    const [line] = world.table.lastLinesOf('/child.out', 20);
    assert.match(line ?? '', /cannot go on: by intent/);
    assert.equal(ending.value?.lastLines[0], line);
    assert.deepEqual(world.table.lastLinesOf('/nothing.out', 20), []);
  });
});

suite('the process table', () => {
  test('an identity holds as long as its process lives, and for no later one', async () => {
    const world = new World();
    const child = world.dependent();
    const identity = world.table.identityOf(child.pid ?? 0);
    assert.ok(identity !== undefined);
    assert.ok(world.table.isAlive(identity));
    assert.equal(world.table.isAlive({ ...identity, bootId: 'other' }), false);
    assert.equal(world.table.isAlive({ ...identity, startTicks: -1 }), false);
    child.signal('SIGKILL');
    assert.equal(world.table.isAlive(identity), false);
    assert.deepEqual(world.table.own(), world.shell.identity);
  });

  test('processes are found by their variables, the asker left out', async () => {
    const world = new World();
    const child = world.dependent({ environment: { MARK: 'a' } });
    world.dependent({ environment: { MARK: 'b' } });
    const found = world.table.findByVariable('MARK', 'a');
    assert.deepEqual(
      found.map(({ pid }) => pid),
      [child.pid],
    );
  });

  test('a signal to nobody is no error', () => {
    const world = new World();
    world.table.signal(1, 'SIGKILL');
    world.table.signal(1, 'SIGTERM', { group: true });
    assert.equal(world.shell.state, 'running');
  });

  test('connections come from the host of the command line, or from the first', () => {
    const world = new World();
    const one = world.dependent({ arguments: ['stays', '--host=10.0.0.2'] });
    const other = world.dependent();
    assert.equal(world.machine.find(one.pid ?? 0)?.host, '10.0.0.2');
    assert.equal(world.machine.find(other.pid ?? 0)?.host, '10.0.0.1');
  });
});
