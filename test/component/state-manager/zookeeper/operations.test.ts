import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import {
  hasReason,
  type ZooKeeperReason,
} from '../../../../src/state-manager/zookeeper/zookeeper-error.ts';
import { eventually } from '../../../support/eventually.ts';
import { aClientOf, bytes, openClient } from '../../../support/zookeeper-client.ts';
import { sharedZooKeeper, withoutZooKeeper } from '../../../support/zookeeper-server.ts';

const zookeeper = sharedZooKeeper();

const rejectsFor = (promise: Promise<unknown>, ...reasons: ZooKeeperReason[]): Promise<void> =>
  assert.rejects(promise, (error) => hasReason(error, ...reasons));

describe('the ZooKeeper client', { skip: withoutZooKeeper() }, () => {
  it('creates, reads, changes and deletes a node', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()]);
    assert.equal(await client.create('/a', bytes('one')), '/a');
    const first = await client.getData('/a');
    assert.equal(Buffer.from(first.data).toString(), 'one');
    assert.equal(first.stat.version, 0);
    assert.equal(first.stat.ephemeralOwner, 0n);
    assert.equal(first.stat.dataBytes, 3);
    assert.ok(Math.abs(first.stat.createdAtMs - Date.now()) < 60_000);
    const second = await client.setData('/a', bytes('two'));
    assert.equal(second.version, 1);
    assert.ok(second.modifiedZxid > first.stat.modifiedZxid);
    assert.equal(Buffer.from((await client.getData('/a')).data).toString(), 'two');
    await client.delete('/a');
    assert.equal(await client.exists('/a'), undefined);
  });

  it('has an answer for everything that is not so', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()]);
    await rejectsFor(client.getData('/no'), 'NO_NODE');
    await rejectsFor(client.setData('/no', bytes('')), 'NO_NODE');
    await rejectsFor(client.delete('/no'), 'NO_NODE');
    await rejectsFor(client.getChildren('/no'), 'NO_NODE');
    await rejectsFor(client.create('/no/child', bytes('')), 'NO_NODE');
    await client.create('/a', bytes(''));
    await rejectsFor(client.create('/a', bytes('')), 'NODE_EXISTS');
    await rejectsFor(client.setData('/a', bytes(''), 7), 'BAD_VERSION');
    await rejectsFor(client.delete('/a', 7), 'BAD_VERSION');
    await client.create('/a/b', bytes(''), { mode: 'ephemeral' });
    await rejectsFor(client.delete('/a'), 'NOT_EMPTY');
    await rejectsFor(client.create('/a/b/c', bytes('')), 'NO_CHILDREN_FOR_EPHEMERALS');
    await assert.rejects(
      client.create('/a', bytes('')),
      (error) => hasCode(error, 'STATE_EXISTS') && error.message.endsWith('/a: the node exists'),
    );
  });

  it('compares versions', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()]);
    await client.create('/a', bytes('0'));
    assert.equal((await client.setData('/a', bytes('1'), 0)).version, 1);
    await rejectsFor(client.setData('/a', bytes('2'), 0), 'BAD_VERSION');
    await client.delete('/a', 1);
  });

  it('names sequential nodes in the order of their making', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()]);
    const made = [
      await client.create('/s-', bytes(''), { mode: 'persistent-sequential' }),
      await client.create('/s-', bytes(''), { mode: 'ephemeral-sequential' }),
    ];
    assert.match(made.join(), /^\/s-\d{10},\/s-\d{10}$/);
    assert.deepEqual(made, made.toSorted());
    assert.deepEqual(
      (await client.getChildren('/')).toSorted(),
      made.map((path) => path.slice(1)),
    );
  });

  it('removes ephemeral nodes with the session that made them', async (t) => {
    const server = await zookeeper();
    const { client } = await aClientOf(t, [server], { chroot: '/owned' });
    const { client: other } = openClient(t, [server], { chroot: '/owned' });
    await client.create('/mine', bytes(''), { mode: 'ephemeral' });
    assert.equal((await other.exists('/mine'))?.ephemeralOwner, client.sessionId);
    await client.close();
    assert.equal(await other.exists('/mine'), undefined);
  });

  it('keeps half a megabyte as it is, and refuses what no server would take', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()]);
    const large = Uint8Array.from({ length: 500_000 }, (_, index) => index & 0xff);
    await client.create('/large', large);
    assert.deepEqual(new Uint8Array((await client.getData('/large')).data), large);
    await rejectsFor(client.setData('/large', new Uint8Array(1024 * 1024)), 'TOO_LARGE');
    assert.equal((await client.exists('/large'))?.version, 0);
  });

  it('has its own copy of what it sends', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()]);
    const data = bytes('before');
    const made = client.create('/a', data);
    data.fill(0);
    await made;
    assert.equal(Buffer.from((await client.getData('/a')).data).toString(), 'before');
  });

  it('changes several nodes or none', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()]);
    await client.create('/a', bytes(''));
    const made = await client.multi([
      { kind: 'check', path: '/a', version: 0 },
      { kind: 'create', path: '/b', data: bytes('b') },
      { kind: 'set', path: '/a', data: bytes('changed'), version: 0 },
      { kind: 'create', path: '/e-', data: bytes(''), mode: 'ephemeral-sequential' },
      { kind: 'delete', path: '/b', version: 0 },
    ]);
    assert.match(made.join(), /^\/b,\/e-\d{10}$/);
    assert.equal(await client.exists('/b'), undefined);
    await assert.rejects(
      client.multi([
        { kind: 'create', path: '/c', data: bytes('') },
        { kind: 'check', path: '/a', version: 77 },
        { kind: 'delete', path: '/nowhere' },
      ]),
      (error) => hasReason(error, 'BAD_VERSION') && error.message.includes('/a:'),
    );
    assert.equal(await client.exists('/c'), undefined);
    assert.equal(Buffer.from((await client.getData('/a')).data).toString(), 'changed');
  });

  it('reads its own writes, and after sync those of others', async (t) => {
    const server = await zookeeper();
    const { client } = await aClientOf(t, [server], { chroot: '/sync' });
    const { client: other } = openClient(t, [server], { chroot: '/sync' });
    await client.create('/a', bytes('seen'));
    await other.sync('/a');
    assert.equal(Buffer.from((await other.getData('/a')).data).toString(), 'seen');
  });

  it('watches once: data, being, children', async (t) => {
    const server = await zookeeper();
    const { client, told, watcher } = await aClientOf(t, [server], { chroot: '/watches' });
    const { client: other } = openClient(t, [server], { chroot: '/watches' });
    await client.create('/a', bytes('0'));
    await client.getData('/a', watcher);
    await client.exists('/later', watcher);
    await client.getChildren('/', watcher);
    await other.setData('/a', bytes('1'));
    await other.setData('/a', bytes('2'));
    await other.create('/later', bytes(''));
    await other.delete('/later');
    await client.sync('/');
    assert.deepEqual(told, ['changed /a', 'created /later', 'children /']);
    await client.exists('/a', watcher);
    await client.getChildren('/a', watcher);
    await other.delete('/a');
    await client.sync('/');
    assert.deepEqual(told.slice(3), ['deleted /a']);
    await rejectsFor(client.getData('/a', watcher), 'NO_NODE');
    await other.create('/a', bytes(''));
    await client.sync('/');
    assert.equal(told.length, 4, 'a read that failed watches nothing');
  });

  it('is below its chroot, with everything that it says', async (t) => {
    const server = await zookeeper();
    const { client, told, watcher } = openClient(t, [server], { chroot: '/deep/er/root' });
    await rejectsFor(client.create('/a', bytes('')), 'NO_NODE');
    await client.createChroot();
    await client.createChroot();
    assert.equal(await client.create('/a', bytes('below')), '/a');
    const { client: above } = openClient(t, [server]);
    assert.equal(Buffer.from((await above.getData('/deep/er/root/a')).data).toString(), 'below');
    assert.deepEqual(await client.getChildren('/'), ['a']);
    await client.getChildren('/', watcher);
    await client.getData('/a', watcher);
    await above.delete('/deep/er/root/a');
    await eventually(() => assert.deepEqual(told, ['deleted /a', 'children /']));
  });

  it('has 5,000 requests under way', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()], { sessionTimeoutMs: 20_000 });
    await client.create('/a', bytes('a'));
    const asked = Array.from({ length: 5_000 }, (_, index) =>
      index % 2 === 0 ? client.exists('/a') : client.exists('/no'),
    );
    const answers = await Promise.all(asked);
    assert.equal(answers.filter((answer) => answer?.dataBytes === 1).length, 2_500);
    assert.equal(answers.filter((answer) => answer === undefined).length, 2_500);
  });

  it('answers what was asked before it is closed, and refuses what comes after', async (t) => {
    const { client } = await aClientOf(t, [await zookeeper()]);
    const asked = client.create('/a', bytes(''));
    const closed = client.close();
    await rejectsFor(client.exists('/a'), 'CLOSED');
    assert.equal(await asked, '/a');
    await closed;
    await client.close();
    assert.equal(client.state, 'closed');
    await rejectsFor(client.exists('/a'), 'CLOSED');
  });
});
