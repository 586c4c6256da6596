import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { HeardStream, NetworkInTest } from '../../../support/simulated-network-in-test.ts';

const MEBIBYTE = 1024 * 1024;
/** Larger than what the network keeps of any connection. */
const FLOOD = Buffer.from(createSeededRandom(1).bytes(MEBIBYTE));

describe('a simulated stream', () => {
  it('carries bytes in order both ways, cut in places that the seed decides', async () => {
    const cuts = async (seed: number): Promise<readonly number[]> => {
      const world = new NetworkInTest(seed);
      const [near, far] = await world.connect();
      await world.inClient(() => near.write(FLOOD));
      await world.inServer(() => {
        for (let line = 0; line < 200; line += 1) far.write(`line ${line},`, 'and more\n');
      });
      await world.idle();
      assert.ok(Buffer.concat(far.heard).equals(FLOOD));
      const expected = Array.from({ length: 200 }, (_, n) => `line ${n},and more\n`).join('');
      assert.equal(near.text, expected);
      assert.deepEqual([near.written, far.written], [1, 200]);
      return far.heard.map(({ length }) => length);
    };
    const [one, again, other] = [await cuts(1), await cuts(1), await cuts(2)];
    assert.deepEqual(again, one);
    assert.notDeepEqual(other, one);
    assert.ok(
      one.some((length) => length % 2 === 1),
      'some are cut in odd places',
    );
  });

  it('needs time for the way, more between hosts', async () => {
    const wayOf = async (hosts: readonly [string, string]): Promise<number> => {
      const world = new NetworkInTest(1, hosts);
      const [near, far] = await world.connect({ host: hosts[1], port: 4000 });
      const startMs = await world.inClient(() => {
        near.write('x');
        return world.clientThread.clock.now();
      });
      await world.idle();
      return (far.heardAtMs[0] ?? 0) - startMs;
    };
    const within = await wayOf(['machine-1', 'machine-1']);
    const between = await wayOf(['machine-1', 'machine-2']);
    assert.ok(within > 0.01 && between > within, `${within} ${between}`);
  });

  it('spoils a chunk as soon as its owner has returned', async () => {
    const world = new NetworkInTest();
    const kept: Buffer[] = [];
    await world.listen(undefined, (stream) => {
      stream.start({ onData: (chunk) => kept.push(chunk), onClosed: () => {} });
    });
    const near = await world.dial();
    await world.inClient(() => near.write('text'));
    await world.idle();
    assert.ok(!Buffer.concat(kept).includes('t'));
  });

  it('takes no more than its window while the reader pauses, and the rest afterwards', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inServer(() => far.stream.pause());
    await world.inClient(() => {
      near.write(FLOOD);
      near.write('end');
    });
    await world.idle();
    const [facts] = world.network.connections();
    assert.deepEqual([near.written, far.bytes], [0, 0]);
    assert.equal(facts?.bufferedBytes, facts?.windowBytes);
    await world.inServer(() => far.stream.resume());
    await world.idle();
    assert.deepEqual([near.written, far.bytes], [2, MEBIBYTE + 3]);
    assert.equal(world.network.connections()[0]?.bufferedBytes, 0);
  });

  it('reads what it still holds of the writer only when there is room', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inServer(() => far.stream.pause());
    const late = Buffer.from('early');
    await world.inClient(() => {
      near.write(FLOOD);
      near.stream.write([late], () => {});
    });
    await world.idle();
    late.set(Buffer.from('later'));
    await world.inServer(() => far.stream.resume());
    await world.idle();
    assert.equal(Buffer.concat(far.heard).subarray(MEBIBYTE).toString(), 'later');
  });

  it('lets a paused thread fill up in the same way', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    world.serverThread.pause();
    await world.inClient(() => near.write(FLOOD));
    await world.idle();
    assert.deepEqual([near.written, far.bytes], [0, 0]);
    world.serverThread.resume();
    await world.idle();
    assert.deepEqual([near.written, far.bytes], [1, MEBIBYTE]);
  });

  it('tells nothing from inside of a call', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inClient(() => {
      near.write('x');
      assert.equal(near.written, 0);
    });
    await world.idle();
    await world.inServer(() => {
      far.stream.destroy();
      assert.equal(far.closed, undefined);
      far.stream.destroy();
    });
    await world.idle();
    assert.deepEqual([near.written, far.closed], [1, { error: undefined }]);
  });

  it('writes chunks of no bytes', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inClient(() => {
      near.write('');
      near.write('', 'a', '');
      near.stream.write([], () => (near.written += 1));
    });
    await world.idle();
    assert.deepEqual([near.written, far.text], [3, 'a']);
  });
});

describe('the end of a simulated stream', () => {
  it('comes after everything that was written before', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inClient(() => {
      near.write(FLOOD);
      near.stream.end();
      near.stream.end();
      assert.throws(() => near.write('more'), /after the end/);
    });
    await world.idle();
    assert.deepEqual([far.bytes, far.closed], [MEBIBYTE, { error: undefined }]);
    assert.deepEqual(near.closed, { error: undefined });
    assert.deepEqual(world.network.connections(), []);
  });

  it('is not seen by a reader that pauses', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inServer(() => far.stream.pause());
    await world.inClient(() => {
      near.write('last words');
      near.stream.end();
    });
    await world.idle();
    assert.ok(!far.isClosed);
    await world.inServer(() => far.stream.resume());
    await world.idle();
    assert.deepEqual([far.text, far.closed], ['last words', { error: undefined }]);
  });

  it('by destroy drops what was not written, and the peer ends after what was', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inClient(() => {
      near.write(FLOOD);
      near.stream.destroy();
    });
    await world.idle();
    assert.ok(far.bytes > 0 && far.bytes < MEBIBYTE, `${far.bytes}`);
    assert.deepEqual([far.closed, near.written], [{ error: undefined }, 0]);
  });

  it('with unread bytes resets the connection', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inServer(() => far.stream.pause());
    await world.inClient(() => near.write('unread'));
    await world.idle();
    await world.inServer(() => far.stream.destroy());
    await world.idle();
    assert.deepEqual(far.closed, { error: undefined });
    assert.ok(hasCode(near.closed?.error, 'CONNECTION_LOST'));
    assert.equal(near.closed.error.retryable, true);
  });

  it('is told to who writes to a stream that has gone', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world.inClient(() => near.stream.pause()); // So that it does not see the end.
    await world.inServer(() => far.stream.destroy());
    await world.idle();
    assert.ok(!near.isClosed);
    await world.inClient(() => near.write('anybody?'));
    await world.idle();
    assert.ok(hasCode(near.closed?.error, 'CONNECTION_LOST'));
  });

  it('before its start is told after its start, once', async () => {
    for (const startsAfterMs of [0, 10]) {
      const world = new NetworkInTest();
      let far: HeardStream | undefined;
      await world.listen(undefined, (stream) => {
        far = new HeardStream(stream, world.serverThread);
        stream.destroy();
        if (startsAfterMs === 0) far.start();
        else world.serverThread.post(startsAfterMs, () => far?.start());
        assert.ok(!far.isClosed);
      });
      await world.dial();
      await world.idle();
      assert.ok(far?.isClosed);
    }
  });

  it('by a reset before its start is told after its start', async () => {
    const world = new NetworkInTest();
    let far: HeardStream | undefined;
    await world.listen(undefined, (stream) => {
      far = new HeardStream(stream, world.serverThread);
    });
    await world.dial();
    world.network.drop(0);
    await world.idle();
    await world.inServer(() => void far?.start());
    await world.idle();
    assert.ok(hasCode(far?.closed?.error, 'CONNECTION_LOST'));
  });

  it('comes with the end of its thread: what was written before arrives', async () => {
    const world = new NetworkInTest();
    const [near, far] = await world.connect();
    await world
      .inClient(() => {
        near.write('last words');
        world.clientThread.kill();
        near.write('from beyond');
        near.stream.destroy();
      })
      .catch(() => {});
    await world.idle();
    assert.deepEqual([far.text, far.closed], ['last words', { error: undefined }]);
    assert.deepEqual([near.closed, world.network.connections()], [undefined, []]);
  });

  it('comes with the end of its thread: a reset when it had not read everything', async () => {
    const world = new NetworkInTest();
    const [near] = await world.connect();
    world.serverThread.spend(1000);
    await world.inClient(() => near.write('never read'));
    await world.kernel.advance(100);
    world.serverThread.kill();
    await world.idle();
    assert.ok(near.closed !== undefined);
  });
});
