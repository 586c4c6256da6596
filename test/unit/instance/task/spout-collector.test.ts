import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Spout } from '../../../../src/api/spout.ts';
import { linePlan } from '../../../support/task-in-test.ts';
import { TrackedTask } from '../../../support/tracked-task.ts';
import { aTrackedSpout } from '../../../support/tracked-spout.ts';

describe('the messages that a spout emits', () => {
  it('are roots of their own task, with keys that count up', async () => {
    const { task } = aTrackedSpout(['a', 'b']);
    void task.start();
    await task.turn();
    assert.deepEqual(task.takeSent(), ['wa<1:1> wb<1:2>']);
    task.running.stop();
  });

  it('are not tracked without an id', async () => {
    const { task, spout } = aTrackedSpout([]);
    spout.next = () => {
      if (spout.calls.length === 0) spout.emit(['a']);
      spout.calls.push('nextTuple');
    };
    void task.start();
    await task.turn();
    assert.deepEqual(task.takeSent(), ['a']);
    task.running.drain();
    await task.turn();
    assert.deepEqual(task.takeSent(), ['marker 2'], 'nothing is pending');
  });

  it('A2: of a stream that nobody reads are acked at once', async () => {
    class Unheard extends Spout.of({ default: ['word'], unread: ['word'] }) {
      readonly acked: unknown[] = [];
      override nextTuple(): void {
        if (this.acked.length === 0) this.emit('unread', ['a'], 'a');
      }
      override ack(messageId: unknown): void {
        this.acked.push(messageId);
      }
    }
    const spout = new Unheard();
    const components = linePlan.topology.components.map((component) =>
      component.name === 'source'
        ? {
            ...component,
            outputs: [...component.outputs, { ...component.outputs[0], stream: 'unread' }],
          }
        : component,
    );
    const plan = { ...linePlan, topology: { ...linePlan.topology, components } };
    const task = new TrackedTask(spout, { component: 'source', plan: plan as typeof linePlan });
    void task.start();
    await task.turn();
    assert.deepEqual([spout.acked, task.takeSent()], [['a'], []]);
    task.running.stop();
  });
});
