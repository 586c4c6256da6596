import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { systemProcessIdentities } from '../../../../src/base/process-identities.ts';
import { eventually } from '../../../support/eventually.ts';
import { bytesOf, record, rejectsWith, textOf } from '../../../support/state-manager-contract.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { openClient } from '../../../support/zookeeper-client.ts';
import { sharedZooKeeper, withoutZooKeeper } from '../../../support/zookeeper-server.ts';
import { aTree } from './state-tree.ts';

/* What the ZooKeeper state manager leaves in the servers, and who may touch it. */

const zookeeper = sharedZooKeeper();
const NODE = 'topologies/words';

/** One byte more than the servers take in one packet. */
const TOO_MANY_BYTES = 1024 * 1024;

describe('the nodes of a ZooKeeper state manager', { skip: withoutZooKeeper() }, () => {
  it("are Heron's: its paths, its bytes, persistent folders, open to all", async (t) => {
    const tree = aTree(t, await zookeeper());
    const manager = tree.connect();
    await manager.create(NODE, bytesOf('raw'));
    await manager.create('tmanagers/words', bytesOf('here'), { ephemeral: true });
    const { client } = openClient(t, tree.address.servers);
    const { root } = tree.address;
    assert.deepEqual((await client.getData(`${root}/${NODE}`)).data, Buffer.from('raw'));
    const master = await client.getData(`${root}/tmanagers/words`);
    assert.deepEqual(master.data, Buffer.from('here'));
    assert.notEqual(master.stat.ephemeralOwner, 0n);
    for (const path of [root, `${root}/topologies`, `${root}/tmanagers`, `${root}/${NODE}`]) {
      // A container's owner would be another number, and the servers would remove it one day.
      assert.equal((await client.exists(path))?.ephemeralOwner, 0n, path);
      const [access] = await client.getAccess(path);
      assert.deepEqual([access?.scheme, access?.identity], ['world', 'anyone'], path);
    }
  });

  it('leave nothing when they are gone, neither folders of a topology nor records', async (t) => {
    const tree = aTree(t, await zookeeper());
    const manager = tree.connect();
    await manager.write('.heron-ts/containers/words/1', bytesOf('one'));
    await manager.write('.heron-ts/containers/words/2', bytesOf('two'));
    await manager.create('tmanagers/words', bytesOf('here'), { ephemeral: true });
    const { client } = openClient(t, tree.address.servers, { chroot: tree.address.root });
    assert.equal((await client.getChildren('/.heron-ts/owners')).length, 1);
    await manager.delete('.heron-ts/containers/words/1');
    assert.deepEqual(await client.getChildren('/.heron-ts/containers'), ['words']);
    await manager.delete('.heron-ts/containers/words/2');
    await manager.delete('tmanagers/words');
    assert.deepEqual(await client.getChildren('/.heron-ts/containers'), []);
    assert.deepEqual(await client.getChildren('/.heron-ts/owners'), []);
    await manager.create('tmanagers/words', bytesOf('again'), { ephemeral: true });
    await manager.close();
    await eventually(async () => {
      assert.deepEqual(await client.getChildren('/.heron-ts/owners'), []);
      assert.deepEqual(await client.getChildren('/tmanagers'), []);
    });
  });

  it('can be made again where somebody else removed only the node', async (t) => {
    const tree = aTree(t, await zookeeper());
    const manager = tree.connect();
    await manager.create('tmanagers/words', bytesOf('first'), { ephemeral: true });
    const { client } = openClient(t, tree.address.servers, { chroot: tree.address.root });
    await client.delete('/tmanagers/words');
    await manager.create('tmanagers/words', bytesOf('second'), { ephemeral: true });
    assert.equal(textOf(await manager.read('tmanagers/words')), 'second');
  });

  it('are refused where their own records are', async (t) => {
    const manager = aTree(t, await zookeeper()).connect();
    await rejectsWith(manager.write('.heron-ts/owners/1~a', bytesOf('')), 'INVALID_ARGUMENT');
    await rejectsWith(manager.list('.heron-ts/owners'), 'INVALID_ARGUMENT');
  });

  it('are not larger than the servers take, which is one clear message', async (t) => {
    const tree = aTree(t, await zookeeper());
    const manager = tree.connect();
    await assert.rejects(
      manager.write(NODE, new Uint8Array(TOO_MANY_BYTES)),
      (error) =>
        hasCode(error, 'STATE_NOT_WRITABLE') &&
        !error.retryable &&
        /topologies\/words at zookeeper:\/\/127.*jute\.maxbuffer/.test(error.message),
    );
    assert.equal(await manager.read(NODE), undefined);
  });

  it('are not deleted while there are others below', async (t) => {
    const manager = aTree(t, await zookeeper()).connect();
    await manager.write('.heron-ts/containers/words/1', bytesOf('one'));
    await rejectsWith(manager.delete('.heron-ts/containers/words'), 'STATE_NOT_WRITABLE');
    assert.deepEqual(await manager.list('.heron-ts/containers/words'), ['1']);
  });

  it('of two processes that want one, exactly one has', async (t) => {
    const tree = aTree(t, await zookeeper());
    const clients = [tree.start(), tree.start()];
    for (let round = 0; round < 5; round += 1) {
      const path = `tmanagers/words-${round}`;
      const outcomes = await Promise.allSettled(
        clients.map((client, index) =>
          client.call('create', path, bytesOf(`owner ${index}`), { ephemeral: true }),
        ),
      );
      const winners = outcomes.map(({ status }) => status === 'fulfilled');
      assert.equal(winners.filter(Boolean).length, 1);
      const owner = textOf(await tree.connect().read(path));
      assert.equal(owner, `owner ${winners.indexOf(true)}`);
    }
  });

  it('of an owner on another machine live as long as its session, whatever its pid', async (t) => {
    const tree = aTree(t, await zookeeper(), { sessionTimeoutMs: 2_000 });
    const elsewhere = { ...systemProcessIdentities.own(), bootId: 'another machine' };
    const processes = { ...systemProcessIdentities, own: () => elsewhere, isAlive: () => false };
    const owner = tree.start();
    await owner.call('create', 'tmanagers/words', bytesOf('there'), { ephemeral: true });
    const observer = tree.connect({ processes });
    const { told } = record(observer, 'tmanagers/words');
    await eventually(() => assert.deepEqual(told, ['there']));
    await owner.kill();
    assert.equal(textOf(await observer.read('tmanagers/words')), 'there');
    await rejectsWith(observer.create('tmanagers/words', bytesOf('')), 'STATE_EXISTS');
    await eventually(() => assert.deepEqual(told, ['there', undefined]));
  });
});

describe('a ZooKeeper state manager with a digest', { skip: withoutZooKeeper() }, () => {
  it('makes nodes for its user alone, by a file or by the environment', async (t) => {
    const { path: folder } = await temporaryFolder(t);
    const digestFile = join(folder, 'digest');
    await writeFile(digestFile, 'ada:engine\n');
    const server = await zookeeper();
    const tree = aTree(t, server, { digestFile });
    const ada = tree.connect();
    await ada.create(NODE, bytesOf('secret'));
    assert.equal(textOf(await ada.read(NODE)), 'secret');
    const { client } = openClient(t, tree.address.servers, { chroot: tree.address.root });
    for (const path of ['/topologies', `/${NODE}`]) {
      const [access] = await client.getAccess(path).catch(() => []);
      // Who may not read it may not read its list either, as of 3.8.
      if (access !== undefined) assert.equal(access.scheme, 'digest', path);
    }
    const { digestFile: _, ...address } = tree.address;
    const open = aTree(t, server, { root: address.root });
    const variables = { HERON_STATE_DIGEST: 'ada:engine' };
    assert.equal(textOf(await open.connect({ variables }).read(NODE)), 'secret');
    await refused(open.connect().read(NODE));
    const wrong = open.connect({ variables: { HERON_STATE_DIGEST: 'ada:wrong' } });
    await refused(wrong.write(NODE, bytesOf('mine')));
    assert.equal(textOf(await ada.read(NODE)), 'secret');
  });

  it('says what is wrong with its credentials, without showing them', async (t) => {
    const server = await zookeeper();
    const { path: folder } = await temporaryFolder(t);
    const missing = aTree(t, server, { digestFile: join(folder, 'absent') }).connect();
    await assert.rejects(
      missing.read(NODE),
      (error) => hasCode(error, 'FILE_FAILED') && /credentials.*absent/.test(error.message),
    );
    const unclear = aTree(t, server).connect({ variables: { HERON_STATE_DIGEST: 'hush' } });
    await assert.rejects(
      unclear.read(NODE),
      (error) =>
        hasCode(error, 'INVALID_CONFIG') &&
        /HERON_STATE_DIGEST: 'user:password'/.test(error.message) &&
        !error.message.includes('hush'),
    );
  });
});

function refused(call: Promise<unknown>): Promise<void> {
  return assert.rejects(
    call,
    (error) =>
      hasCode(error, 'NOT_AUTHORIZED') &&
      /zookeeper:\/\/.*digest\.file/.test(error.message) &&
      !/engine|wrong/.test(error.message),
  );
}
