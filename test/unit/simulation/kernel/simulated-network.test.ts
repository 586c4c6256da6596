import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, hasCode } from '../../../../src/base/errors.ts';
import type { Address } from '../../../../src/net/network.ts';
import type { TrafficEvent } from '../../../../src/simulation/kernel/simulated-network.ts';
import { inThread } from '../../../support/in-simulated-thread.ts';
import { NetworkInTest, SERVER } from '../../../support/simulated-network-in-test.ts';

const failsWith =
  (code: ErrorCode) =>
  (error: unknown): boolean => {
    assert.ok(hasCode(error, code), String(error));
    return true;
  };

describe('listeners of the simulated network', () => {
  it('have a port each', async () => {
    const world = new NetworkInTest();
    const listener = await world.listen();
    assert.deepEqual(listener.address, SERVER);
    await assert.rejects(world.listen(), failsWith('PORT_IN_USE'));
    await assert.rejects(world.listen({ host: '0.0.0.0', port: 4000 }), failsWith('PORT_IN_USE'));
    const free = { host: '127.0.0.1', port: 0 };
    const ports = [await world.listen(free), await world.listen(free)].map((l) => l.address.port);
    assert.equal(new Set([...ports, 0, 4000]).size, 4);
  });

  it('give their port back when they close, or their thread dies', async () => {
    const world = new NetworkInTest();
    const listener = await world.listen();
    listener.close();
    listener.close();
    await world.listen();
    world.serverThread.kill();
    await assert.rejects(world.dial(), failsWith('CONNECTION_REFUSED'));
    const successor = world.kernel.createThread('successor');
    const port = world.network.portOf(successor, 'machine-1');
    await inThread(world.kernel, successor, () => port.listen(SERVER, () => {}));
    await world.dial();
  });

  it('are reached by the names that they listen on', async () => {
    const local: Address = { host: '127.0.0.1', port: 1 };
    const named: Address = { host: 'machine-2', port: 2 };
    const everywhere: Address = { host: '0.0.0.0', port: 3 };
    const world = new NetworkInTest(1, ['machine-1', 'machine-2']);
    for (const address of [local, named, everywhere]) await world.listen(address);
    const reach = async (host: string, port: number, from = world.client): Promise<boolean> => {
      const thread = from === world.client ? world.clientThread : world.serverThread;
      try {
        await inThread(world.kernel, thread, () => from.connect({ host, port }));
        return true;
      } catch (error) {
        return !failsWith('CONNECTION_REFUSED')(error);
      }
    };
    const own = world.server;
    assert.deepEqual(
      [await reach('machine-2', 1), await reach('127.0.0.1', 1, own), await reach('localhost', 1)],
      [false, true, false],
    );
    assert.deepEqual(
      [await reach('machine-2', 2), await reach('127.0.0.1', 2, own)],
      [true, false],
    );
    assert.deepEqual([await reach('machine-2', 3), await reach('127.0.0.1', 3, own)], [true, true]);
    await assert.rejects(
      world.listen({ host: 'machine-1', port: 9 }),
      failsWith('CONNECTION_LOST'),
    );
  });
});

describe('dials in the simulated network', () => {
  it('are refused where nobody listens, and fail where there is no host', async () => {
    const world = new NetworkInTest();
    await assert.rejects(world.dial(), failsWith('CONNECTION_REFUSED'));
    await assert.rejects(world.dial({ host: 'nowhere', port: 1 }), failsWith('CONNECTION_LOST'));
  });

  it('can be given up, before and while they last', async () => {
    const isGivenUp = failsWith('CONNECTION_CLOSED');
    for (let seed = 1; seed <= 20; seed += 1) {
      const world = new NetworkInTest(seed);
      await world.listen(SERVER, (stream) =>
        stream.start({ onData: () => {}, onClosed: () => {} }),
      );
      const early = world.inClient(() => world.client.connect(SERVER, AbortSignal.abort()));
      await assert.rejects(early, isGivenUp);
      const late = world.inClient(() => {
        const controller = new AbortController();
        // Before the answer can be there; the other host may have been reached.
        world.clientThread.clock.after(0.036, () => controller.abort());
        return world.client.connect(SERVER, controller.signal);
      });
      await assert.rejects(late, isGivenUp);
      await world.idle();
      assert.deepEqual(world.network.connections(), [], 'what was made meanwhile is closed');
    }
  });

  it('reach a paused process, which notices later', async () => {
    const world = new NetworkInTest();
    let accepted = 0;
    await world.listen(SERVER, () => (accepted += 1));
    world.serverThread.pause();
    const near = await world.dial();
    assert.equal(accepted, 0);
    world.serverThread.resume();
    await world.idle();
    assert.deepEqual([accepted, near.closed], [1, undefined]);
  });

  it('are broken when the listener closes before it has seen them', async () => {
    const world = new NetworkInTest();
    const listener = await world.listen(SERVER, () => assert.fail('it listens no more'));
    world.serverThread.pause();
    const near = await world.dial();
    listener.close();
    world.serverThread.resume();
    await world.idle();
    assert.ok(near.closed !== undefined);
  });

  it('never end for a thread that has died', async () => {
    for (const diedAtMs of [0.01, 0.036]) {
      const world = new NetworkInTest();
      await world.listen(SERVER, (stream) =>
        stream.start({ onData: () => {}, onClosed: () => {} }),
      );
      let settled = 0;
      const count = (): number => (settled += 1);
      world.clientThread.post(0, () => void world.client.connect(SERVER).then(count, count));
      world.kernel.at(diedAtMs, () => {
        world.clientThread.kill();
        world.client.connect(SERVER).then(count, count);
        world.client.connect(SERVER, AbortSignal.abort()).then(count, count);
        world.client.listen({ host: '127.0.0.1', port: 0 }, () => {}).then(count, count);
      });
      await world.idle();
      assert.deepEqual([settled, world.network.connections()], [0, []]);
    }
  });

  it('tell each side who the other is', async () => {
    const world = new NetworkInTest(1, ['machine-1', 'machine-2']);
    const [near, far] = await world.connect({ host: 'machine-2', port: 4000 });
    assert.equal(near.stream.remote, 'machine-2:4000');
    assert.match(far.stream.remote, /^machine-1:\d+$/);
    assert.match(world.kernel.log.text, /client +connects to server at machine-2:4000/);
  });
});

describe('faults of the simulated network', () => {
  it('drop a connection: both ends learn of it, what is on the way is lost', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    const [number] = world.network.connectionsBetween(['server'], ['client']);
    assert.ok(number !== undefined);
    world.kernel.at(0, () => {
      near.write('lost');
      world.network.drop(number);
    });
    await world.idle();
    for (const end of [near, far]) assert.ok(hasCode(end.closed?.error, 'CONNECTION_LOST'));
    assert.equal(far.text, '');
    assert.deepEqual(world.network.connections(), []);
    world.network.drop(number);
  });

  it('leave a connection half open: bytes vanish, nobody is told, new ones work', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    world.network.halfOpen(0);
    await world.inClient(() => near.write('into the void'));
    await world.inServer(() => {
      far.write('as well');
      far.stream.destroy();
    });
    await world.idle();
    assert.deepEqual([near.text, far.text, near.closed, near.written], ['', '', undefined, 1]);
    await world.dial();
    world.network.drop(0);
    await world.idle();
    assert.ok(hasCode(near.closed?.error, 'CONNECTION_LOST'));
  });

  it('hold back both ways between parts, in order, until they heal', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    const fault = world.network.faults.partition({ from: ['client'], to: ['server'] });
    await world.inClient(() => near.write('one '));
    await world.inServer(() => far.write('back'));
    await world.idle();
    await world.inClient(() => near.write('two'));
    await world.idle();
    assert.deepEqual([near.text, far.text], ['', '']);
    world.kernel.at(0, () => {
      fault.heal();
      fault.heal();
    });
    await world.idle();
    assert.deepEqual([near.text, far.text], ['back', 'one two']);
  });

  it('hold back one way only', async () => {
    const world = new NetworkInTest(1, ['machine-1', 'machine-2']);
    const [near, far] = await world.connect({ host: 'machine-2', port: 4000 });
    const place = { from: ['machine-1'], to: ['machine-2'], isOneWay: true };
    const fault = world.network.faults.partition(place);
    await world.inClient(() => near.write('there'));
    await world.inServer(() => far.write('back'));
    await world.idle();
    assert.deepEqual([near.text, far.text], ['back', '']);
    fault.heal();
    await world.idle();
    assert.equal(far.text, 'there');
  });

  it('do not part a process from itself, nor those that are not named', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    world.network.faults.partition({ from: ['*'], to: ['another'] });
    await world.inClient(() => near.write('hello'));
    await world.idle();
    assert.equal(far.text, 'hello');
    world.network.faults.partition({ from: ['*'], to: ['*'] });
    const port = world.network.portOf(world.serverThread, 'machine-1');
    await world.inServer(() => port.connect(SERVER));
  });

  it('keep a one-way part from learning that there is room', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    const flood = Buffer.alloc(1024 * 1024, 'x');
    const place = { from: ['server'], to: ['client'], isOneWay: true };
    const fault = world.network.faults.partition(place);
    await world.inClient(() => near.write(flood));
    await world.idle();
    assert.equal(far.bytes, world.network.connections()[0]?.windowBytes);
    assert.equal(near.written, 0);
    fault.heal();
    await world.idle();
    assert.deepEqual([far.bytes, near.written], [flood.length, 1]);
  });

  it('let a dial wait, which is repeated, and given up after minutes', async () => {
    const world = new NetworkInTest();
    await world.listen();
    const fault = world.network.faults.partition({ from: ['client'], to: ['*'] });
    world.kernel.at(2000, () => fault.heal());
    await world.dial();
    const tookMs = world.kernel.nowMs;
    assert.ok(tookMs >= 2000 && tookMs < 8000, `${tookMs}`);
    world.network.faults.partition({ from: ['client'], to: ['*'] });
    await assert.rejects(world.dial(), failsWith('CONNECTION_LOST'));
    assert.ok(world.kernel.nowMs > tookMs + 60_000);
  });

  it('delay what is sent, in order', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    const startMs = world.kernel.nowMs;
    const place = { from: ['client'], to: ['server'] };
    const fault = world.network.faults.delay({ ...place, delayMs: 100, jitterMs: 50 });
    await world.inClient(() => {
      for (let n = 0; n < 20; n += 1) near.write(`${n},`);
    });
    fault.heal();
    await world.inClient(() => near.write('last'));
    await world.idle();
    assert.equal(far.text, '0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,last');
    const firstMs = (far.heardAtMs[0] ?? 0) - startMs;
    assert.ok(firstMs >= 100 && firstMs < 160, `${firstMs}`);
  });

  it('can be cleared all at once', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    world.network.faults.partition({ from: ['client'], to: ['server'] });
    world.network.faults.delay({ from: ['*'], to: ['*'], delayMs: 500 });
    await world.inClient(() => near.write('held'));
    world.network.faults.clear();
    const startMs = world.kernel.nowMs;
    await world.idle();
    assert.equal(far.text, 'held');
    assert.ok(world.kernel.nowMs - startMs < 10);
  });
});

describe('a tap of the simulated network', () => {
  it('sees bytes when they are sent and when they are read', async () => {
    const world = new NetworkInTest();
    const [near] = await world.connect();
    const seen: string[] = [];
    const note =
      (what: string) =>
      ({ from, to, bytes, connection }: TrafficEvent): void => {
        seen.push(`${what} ${connection} ${from.process}-${to.process} ${String(bytes)}`);
      };
    const remove = world.network.tap({ onBytes: note('sent'), onRead: note('read') });
    await world.inClient(() => near.write('ab', 'c'));
    await world.idle();
    remove();
    await world.inClient(() => near.write('d'));
    await world.idle();
    assert.equal(seen[0], 'sent 0 client-server abc');
    const read = seen.slice(1).map((line) => line.replace('read 0 client-server ', ''));
    assert.equal(read.join(''), 'abc');
  });
});
