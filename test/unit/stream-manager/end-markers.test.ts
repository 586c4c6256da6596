import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskId } from '../../../src/base/ids.ts';
import { EndMarkers } from '../../../src/stream-manager/end-markers.ts';

describe('EndMarkers', () => {
  it('tells a first end from a repeated one', () => {
    const markers = new EndMarkers();
    assert.ok(markers.addLocal(taskId(4)));
    assert.ok(markers.addLocal(taskId(2)));
    assert.ok(!markers.addLocal(taskId(4)));
    assert.deepEqual(markers.localTasks(), [4, 2]);
  });

  it('knows the end of a remote task only where its marker has arrived', () => {
    const markers = new EndMarkers();
    markers.addRemote(taskId(1), taskId(8));
    markers.addRemote(taskId(1), taskId(8));
    markers.addRemote(taskId(2), taskId(8));
    assert.deepEqual(markers.remoteTasksFor(taskId(8)), [1, 2]);
    assert.deepEqual(markers.remoteTasksFor(taskId(9)), []);
  });

  it('knows which local tasks have ended', () => {
    const markers = new EndMarkers();
    markers.addRemote(taskId(1), taskId(8));
    markers.addLocal(taskId(4));
    assert.deepEqual(
      [1, 4, 8].map((task) => markers.hasLocal(taskId(task))),
      [false, true, false],
    );
  });
});
