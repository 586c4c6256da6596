import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { type ErrorCode, hasCode } from '../../src/base/errors.ts';
import { topologyId } from '../../src/base/ids.ts';
import type { StateManager, Watch } from '../../src/state-manager/state-manager.ts';
import { eventually } from './eventually.ts';

/** An owner that can die without a farewell. */
export interface DoomedOwner {
  create(path: string, bytes: Uint8Array, options: { ephemeral: boolean }): Promise<void>;
  /** Resolves when it is dead. */
  die(): Promise<void>;
}

/** A store for one test, reached by several parties. */
export interface StoreUnderTest {
  /** Another party on the same store; closed at the end of the test. */
  connect(): StateManager;
  connectDoomed(): Promise<DoomedOwner>;
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const textOf = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : new TextDecoder().decode(bytes);

export const rejectsWith = (promise: Promise<unknown>, code: ErrorCode): Promise<void> =>
  assert.rejects(promise, (error) => hasCode(error, code));

/** Everything that a watch has told, as text. */
export function record(
  manager: StateManager,
  path: string,
): { readonly told: (string | undefined)[]; readonly watch: Watch } {
  const told: (string | undefined)[] = [];
  const watch = manager.watch(path, (bytes) => told.push(textOf(bytes)));
  return { told, watch };
}

const NODE = 'topologies/words';

/** What every StateManager does, whatever it keeps its nodes in. */
export function stateManagerContract(
  name: string,
  openStore: (t: TestContext) => Promise<StoreUnderTest>,
): void {
  describe(`${name} keeps nodes`, () => {
    it('reads what was created, by whomever', async (t) => {
      const store = await openStore(t);
      await store.connect().create(NODE, bytesOf('plan'));
      assert.deepEqual(await store.connect().read(NODE), bytesOf('plan'));
    });

    it('tells an empty node from an absent one', async (t) => {
      const manager = (await openStore(t)).connect();
      assert.equal(await manager.read(NODE), undefined);
      await manager.create(NODE, new Uint8Array());
      assert.deepEqual(await manager.read(NODE), new Uint8Array());
    });

    it('keeps its own copy of the bytes', async (t) => {
      const manager = (await openStore(t)).connect();
      const written = bytesOf('plan');
      await manager.create(NODE, written);
      written.fill(0);
      (await manager.read(NODE))?.fill(1);
      assert.equal(textOf(await manager.read(NODE)), 'plan');
    });

    it('refuses to create a node that is there, and leaves it alone', async (t) => {
      const store = await openStore(t);
      await store.connect().create(NODE, bytesOf('first'));
      await rejectsWith(store.connect().create(NODE, bytesOf('second')), 'STATE_EXISTS');
      assert.equal(textOf(await store.connect().read(NODE)), 'first');
    });

    it('writes whether the node is there or not', async (t) => {
      const manager = (await openStore(t)).connect();
      await manager.write(NODE, bytesOf('one'));
      await manager.write(NODE, bytesOf('two'));
      assert.equal(textOf(await manager.read(NODE)), 'two');
    });

    it('keeps the order of writes that nobody awaited', async (t) => {
      const manager = (await openStore(t)).connect();
      const numbers = Array.from({ length: 20 }, (_, n) => n);
      const done: number[] = [];
      await Promise.all(
        numbers.map(async (n) => {
          await manager.write(NODE, bytesOf(`${n}`));
          done.push(n);
        }),
      );
      assert.deepEqual(done, numbers);
      assert.equal(textOf(await manager.read(NODE)), '19');
    });

    it('replaces only what was expected', async (t) => {
      const manager = (await openStore(t)).connect();
      await rejectsWith(manager.replace(NODE, bytesOf('a'), bytesOf('b')), 'STATE_CONFLICT');
      await manager.replace(NODE, undefined, bytesOf('a'));
      await rejectsWith(manager.replace(NODE, undefined, bytesOf('b')), 'STATE_CONFLICT');
      await manager.replace(NODE, bytesOf('a'), bytesOf('b'));
      await rejectsWith(manager.replace(NODE, bytesOf('a'), bytesOf('c')), 'STATE_CONFLICT');
      assert.equal(textOf(await manager.read(NODE)), 'b');
    });

    it('deletes, twice if asked, and creates again', async (t) => {
      const manager = (await openStore(t)).connect();
      await manager.create(NODE, bytesOf('old'));
      await manager.delete(NODE);
      await manager.delete(NODE);
      assert.equal(await manager.read(NODE), undefined);
      await manager.create(NODE, bytesOf('new'));
      assert.equal(textOf(await manager.read(NODE)), 'new');
    });

    it('lists the nodes of one folder, sorted', async (t) => {
      const manager = (await openStore(t)).connect();
      assert.deepEqual(await manager.list('topologies'), []);
      await manager.create('topologies/b', bytesOf(''));
      await manager.create('topologies/a', bytesOf(''));
      await manager.create('pplans/c', bytesOf(''));
      await manager.create('.heron-ts/containers/a/1', bytesOf(''));
      assert.deepEqual(await manager.list('topologies'), ['a', 'b']);
      assert.deepEqual(await manager.list('.heron-ts/containers/a'), ['1']);
    });

    for (const path of ['', '/', '../out', 'topologies/../../out', 'a//b', '/etc/x', 'a/./b']) {
      it(`refuses ${JSON.stringify(path)} as a path`, async (t) => {
        const manager = (await openStore(t)).connect();
        await rejectsWith(manager.read(path), 'INVALID_ARGUMENT');
        await rejectsWith(manager.write(path, bytesOf('')), 'INVALID_ARGUMENT');
        await rejectsWith(manager.delete(path), 'INVALID_ARGUMENT');
        await rejectsWith(manager.list(path), 'INVALID_ARGUMENT');
        assert.throws(
          () => manager.watch(path, () => {}),
          (error) => hasCode(error, 'INVALID_ARGUMENT'),
        );
      });
    }
  });

  describe(`${name} forgets the ephemeral nodes of dead owners`, () => {
    it('keeps one while its owner lives, and counts it as there', async (t) => {
      const store = await openStore(t);
      await store.connect().create(NODE, bytesOf('owned'), { ephemeral: true });
      await rejectsWith(store.connect().create(NODE, bytesOf('mine')), 'STATE_EXISTS');
      assert.equal(textOf(await store.connect().read(NODE)), 'owned');
      assert.deepEqual(await store.connect().list('topologies'), ['words']);
    });

    it('does not show it from the moment its owner is dead', async (t) => {
      const store = await openStore(t);
      const owner = await store.connectDoomed();
      await owner.create(NODE, bytesOf('owned'), { ephemeral: true });
      // It has changed something before: what it does once at its start cannot be what helps.
      const manager = store.connect();
      await manager.write('pplans/words', bytesOf('other'));
      await owner.die();
      assert.equal(await manager.read(NODE), undefined);
      assert.deepEqual(await manager.list('topologies'), []);
      await manager.replace(NODE, undefined, bytesOf('kept'));
      assert.equal(textOf(await manager.read(NODE)), 'kept');
    });

    it('lets another owner have it after that', async (t) => {
      const store = await openStore(t);
      const owner = await store.connectDoomed();
      await owner.create(NODE, bytesOf('first'), { ephemeral: true });
      await owner.die();
      const next = await store.connectDoomed();
      await next.create(NODE, bytesOf('second'), { ephemeral: true });
      assert.equal(textOf(await store.connect().read(NODE)), 'second');
      await next.die();
      assert.equal(await store.connect().read(NODE), undefined);
    });

    it('keeps the kind of a node that is written', async (t) => {
      const store = await openStore(t);
      const owner = await store.connectDoomed();
      await owner.create(NODE, bytesOf('owned'), { ephemeral: true });
      const manager = store.connect();
      await manager.write(NODE, bytesOf('changed'));
      assert.equal(textOf(await manager.read(NODE)), 'changed');
      await owner.die();
      assert.equal(await manager.read(NODE), undefined);
    });

    it('keeps what a dead owner made for good', async (t) => {
      const store = await openStore(t);
      const owner = await store.connectDoomed();
      await owner.create(NODE, bytesOf('kept'), { ephemeral: false });
      await owner.die();
      assert.equal(textOf(await store.connect().read(NODE)), 'kept');
    });

    it('removes those of a manager that is closed, and no others', async (t) => {
      const store = await openStore(t);
      const closing = store.connect();
      const staying = store.connect();
      await closing.create('tmanagers/a', bytesOf('a'), { ephemeral: true });
      await closing.create('tmanagers/b', bytesOf('b'), { ephemeral: true });
      await closing.create('topologies/c', bytesOf('c'));
      await staying.delete('tmanagers/b');
      await staying.create('tmanagers/b', bytesOf('b2'), { ephemeral: true });
      await closing.close();
      assert.equal(await staying.read('tmanagers/a'), undefined);
      assert.equal(textOf(await staying.read('tmanagers/b')), 'b2');
      assert.equal(textOf(await staying.read('topologies/c')), 'c');
    });
  });

  describe(`${name} tells watchers`, () => {
    it('the value at hand first, absent or not, and after the call', async (t) => {
      const manager = (await openStore(t)).connect();
      await manager.create('topologies/there', bytesOf('value'));
      const there = record(manager, 'topologies/there');
      const absent = record(manager, 'topologies/absent');
      assert.deepEqual([there.told, absent.told], [[], []]);
      await eventually(() => assert.deepEqual([there.told, absent.told], [['value'], [undefined]]));
    });

    it('of a creation, a change, a deletion and a re-creation', async (t) => {
      const store = await openStore(t);
      const { told } = record(store.connect(), NODE);
      const manager = store.connect();
      await eventually(() => assert.deepEqual(told, [undefined]));
      await manager.create(NODE, bytesOf('a'));
      await eventually(() => assert.equal(told.at(-1), 'a'));
      await manager.write(NODE, bytesOf('b'));
      await eventually(() => assert.equal(told.at(-1), 'b'));
      await manager.delete(NODE);
      await eventually(() => assert.equal(told.at(-1), undefined));
      await manager.create(NODE, bytesOf('c'));
      await eventually(() => assert.equal(told.at(-1), 'c'));
      assert.deepEqual(told, [undefined, 'a', 'b', undefined, 'c']);
    });

    it('of nothing that did not change', async (t) => {
      const manager = (await openStore(t)).connect();
      await manager.create(NODE, bytesOf('same'));
      const { told } = record(manager, NODE);
      await eventually(() => assert.deepEqual(told, ['same']));
      await manager.write(NODE, bytesOf('same'));
      await manager.write('topologies/neighbour', bytesOf('other'));
      await manager.write(NODE, bytesOf('end'));
      await eventually(() => assert.deepEqual(told, ['same', 'end']));
    });

    it('of the death of an owner', async (t) => {
      const store = await openStore(t);
      const owner = await store.connectDoomed();
      await owner.create(NODE, bytesOf('owned'), { ephemeral: true });
      const { told } = record(store.connect(), NODE);
      await eventually(() => assert.deepEqual(told, ['owned']));
      await owner.die();
      await eventually(() => assert.deepEqual(told, ['owned', undefined]));
    });

    it('of the last value however many came before', async (t) => {
      const store = await openStore(t);
      const { told } = record(store.connect(), NODE);
      const manager = store.connect();
      for (let value = 1; value <= 50; value += 1) await manager.write(NODE, bytesOf(`${value}`));
      await eventually(() => assert.equal(told.at(-1), '50'));
      const values = told.slice(1).map(Number);
      assert.deepEqual(
        values,
        values.toSorted((a, b) => a - b),
      );
    });

    it('nothing after the watch or the manager is closed', async (t) => {
      const store = await openStore(t);
      const watching = store.connect();
      const closed = record(watching, NODE);
      closed.watch.close();
      closed.watch.close();
      const other = record(watching, NODE);
      await eventually(() => assert.deepEqual(other.told, [undefined]));
      await watching.close();
      const { told } = record(store.connect(), NODE);
      await store.connect().write(NODE, bytesOf('late'));
      await eventually(() => assert.equal(told.at(-1), 'late'));
      assert.deepEqual([closed.told, other.told], [[], [undefined]]);
    });
  });

  describe(`${name} counts epochs`, () => {
    it('upwards for each topology id, by whomever they are asked', async (t) => {
      const store = await openStore(t);
      const [one, two] = [store.connect(), store.connect()];
      assert.equal(await one.nextEpoch(topologyId('words-1')), 1);
      assert.equal(await two.nextEpoch(topologyId('words-1')), 2);
      assert.equal(await one.nextEpoch(topologyId('words-1')), 3);
      assert.equal(await one.nextEpoch(topologyId('words-2')), 1);
    });

    it('to different numbers when asked at once', async (t) => {
      const store = await openStore(t);
      const asked = [store.connect(), store.connect(), store.connect()].flatMap((manager) =>
        Array.from({ length: 10 }, () => manager.nextEpoch(topologyId('words-1'))),
      );
      assert.equal(new Set(await Promise.all(asked)).size, 30);
    });

    it('never from a counter that is damaged', async (t) => {
      const manager = (await openStore(t)).connect();
      await manager.write('.heron-ts/epochs/words-1', bytesOf('-7'));
      await rejectsWith(manager.nextEpoch(topologyId('words-1')), 'STATE_CORRUPTED');
      assert.equal(textOf(await manager.read('.heron-ts/epochs/words-1')), '-7');
    });
  });

  it(`${name} refuses everything once it is closed, and closes twice`, async (t) => {
    const manager = (await openStore(t)).connect();
    await manager.close();
    await manager.close();
    await rejectsWith(manager.read(NODE), 'STATE_UNAVAILABLE');
    await rejectsWith(manager.create(NODE, bytesOf('')), 'STATE_UNAVAILABLE');
    await rejectsWith(manager.nextEpoch(topologyId('words-1')), 'STATE_UNAVAILABLE');
  });
}
