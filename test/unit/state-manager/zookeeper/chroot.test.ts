import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chroot } from '../../../../src/state-manager/zookeeper/chroot.ts';

test('a path below the chroot is whole with it, and back again', () => {
  const chroot = new Chroot('/heron/one');
  for (const [below, whole] of [
    ['/', '/heron/one'],
    ['/a', '/heron/one/a'],
    ['/a/b', '/heron/one/a/b'],
  ] as const) {
    assert.equal(chroot.whole(below), whole);
    assert.equal(chroot.below(whole), below);
  }
  assert.deepEqual(chroot.folders, ['/heron', '/heron/one']);
});

test('without a chroot paths are what they are', () => {
  for (const chroot of [new Chroot(), new Chroot('/')]) {
    for (const path of ['/', '/a', '/a/b']) {
      assert.equal(chroot.whole(path), path);
      assert.equal(chroot.below(path), path);
    }
    assert.deepEqual(chroot.folders, []);
  }
});

test('what is no path is a mistake of ours', () => {
  for (const path of ['', 'a', '/a/', '//', '/a//b', '/a\0']) {
    assert.throws(() => new Chroot().whole(path), /no path of a ZooKeeper node/, path);
    if (path !== '') assert.throws(() => new Chroot(path), /no path of a ZooKeeper node/, path);
  }
});
