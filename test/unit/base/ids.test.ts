import assert from 'node:assert/strict';
import test from 'node:test';
import {
  componentName,
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
