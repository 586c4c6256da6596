import assert from 'node:assert/strict';
import test from 'node:test';
import {
  componentName,
  componentOfInstance,
  containerId,
  containerOfStreamManager,
  instanceIdOf,
  streamManagerId,
  streamManagerIdOf,
  taskId,
} from '../../../src/base/ids.ts';

test('ids are written as Heron writes them', () => {
  assert.equal(
    instanceIdOf(containerId(2), componentName('count'), taskId(7)),
    'container_2_count_7',
  );
  assert.equal(streamManagerIdOf(containerId(2)), 'stmgr-2');
});

test('the container of a stream manager is read back from its id', () => {
  for (const container of [0, 1, 42, 999_999_999]) {
    assert.equal(containerOfStreamManager(streamManagerIdOf(containerId(container))), container);
  }
});

test('an id of another form has no container', () => {
  for (const id of [
    '',
    'stmgr-',
    'stmgr-x',
    'stmgr-1 ',
    'xstmgr-1',
    'stmgr--1',
    'stmgr-1234567890',
  ]) {
    assert.equal(containerOfStreamManager(streamManagerId(id)), undefined, id);
  }
});

test('the component of an instance is read back from its id', () => {
  for (const name of ['count', 'split_up', '_', '1_2', 'a\nb']) {
    const id = instanceIdOf(containerId(2), componentName(name), taskId(7));
    assert.equal(componentOfInstance(id), name);
  }
  for (const id of ['', 'stmgr-1', 'container_1__2', 'container_x_count_7', 'container_1_count']) {
    assert.equal(componentOfInstance(id), undefined, id);
  }
});
