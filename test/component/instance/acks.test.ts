import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { backPressureSet } from '../../../src/wire/back-pressure-notice.ts';
import { eventually } from '../../support/eventually.ts';
import { InstanceInTest, PATIENTLY } from '../../support/instance-in-test.ts';
import { aTracked, settledSet } from '../../support/tracked-task.ts';

const config = {
  'topology.reliability.mode': 'ATLEAST_ONCE',
  'heron.instance.reconnect.streammgr.interval.ms': '20',
};

/** The words of all sets, in order. */
function words(seen: readonly string[]): string {
  return seen
    .filter((text) => text.startsWith('default: '))
    .map((text) => text.slice('default: '.length))
    .join(' ');
}

/** XOR of the keys of all acks for a root. */
function acked(seen: readonly string[], root: number): number {
  const keys = seen.flatMap((text) => {
    const key = new RegExp(`^ack 1:${root}=(\\d+)$`).exec(text)?.[1];
    return key === undefined ? [] : [Number(key)];
  });
  return keys.reduce((sum, key) => sum ^ key, 0);
}

describe('a spout under at least once', () => {
  it('hears of its messages, and that its stream manager was lost', async (t) => {
    const { partners } = await InstanceInTest.start(t, { script: 'messages 4', config });
    await eventually(() => partners.rootKeys.length === 4, PATIENTLY);
    const [one = 0n, two = 0n] = partners.rootKeys;
    partners.sendSet(
      settledSet({ acks: [{ key: one }], fails: [{ key: two, reason: { kind: 'dropped' } }] }),
    );
    await eventually(() => words(partners.seen).endsWith('acked 1 failed 2 dropped'), PATIENTLY);
    const port = partners.streamManagerPort;
    await partners.leave();
    await partners.listen(port);
    const lost = 'failed 3 lost-stream-manager failed 4 lost-stream-manager';
    await eventually(() => words(partners.seen).endsWith(lost), PATIENTLY);
  });

  it('fails what times out at a stream manager that knows no credits', async (t) => {
    const { partners } = await InstanceInTest.start(t, {
      script: 'messages 1',
      config: { ...config, 'topology.message.timeout.secs': '1' },
      creditBytes: undefined,
    });
    await eventually(() => words(partners.seen) === '1 failed 1 time-out', PATIENTLY);
  });

  it('R12: emits nothing while it is held, until its stream manager is lost', async (t) => {
    const { partners } = await InstanceInTest.start(t, { script: 'messages 2', config });
    await eventually(() => partners.rootKeys.length === 2, PATIENTLY);
    const [one = 0n] = partners.rootKeys;
    const notice = { isHeld: true, component: 'sink', streamManager: 'stmgr-1' };
    partners.sendSet(backPressureSet(1, notice));
    partners.sendSet(settledSet({ acks: [{ key: one }] }));
    const port = partners.streamManagerPort;
    await partners.leave();
    assert.equal(words(partners.seen), '1 2');
    await partners.listen(port);
    const all = '1 2 acked 1 failed 2 lost-stream-manager';
    await eventually(() => words(partners.seen) === all, PATIENTLY);
  });
});

describe('a bolt under at least once', () => {
  it('acks behind what it has emitted, before and after its stream manager was lost', async (t) => {
    const { partners } = await InstanceInTest.start(t, {
      component: 'work',
      script: 'ack',
      config,
    });
    await eventually(() => partners.registrations.length === 1, PATIENTLY);
    partners.send({ tuples: [aTracked('a', 1n, 10n), aTracked('b', 2n, 10n)] });
    // A slow machine may send each by itself.
    await eventually(() => acked(partners.seen, 10) === 3, PATIENTLY);
    assert.equal(words(partners.seen), 'a b');
    assert.match(partners.seen.join(', '), /default: .*\ba\b.* ack /);
    const port = partners.streamManagerPort;
    await partners.leave();
    await partners.listen(port);
    await eventually(() => partners.registrations.length === 2, PATIENTLY);
    partners.send({ tuples: [aTracked('c', 4n, 20n)] });
    await eventually(() => acked(partners.seen, 20) === 4, PATIENTLY);
    const [last, ack] = partners.seen.filter((text) => /^(default|ack)/.test(text)).slice(-2);
    assert.deepEqual([last, ack], ['default: c', 'ack 1:20=4']);
  });
});
