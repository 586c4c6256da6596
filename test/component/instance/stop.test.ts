import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { eventually } from '../../support/eventually.ts';
import { InstanceInTest, type InstanceOptions, PATIENTLY } from '../../support/instance-in-test.ts';
import { aTuple } from '../../support/tuple-sets.ts';

/*
  How an instance ends (R7), and what is seen of one that hangs (case O36). Grace and limits are
  short; everything else is as shipped.
*/

const GRACE_MS = 2_000;
/** The machine may be busy: the process has to be gone in this time, not much earlier. */
const GONE_MS = GRACE_MS + 5_000;

const config = {
  'heron.shutdown.grace.ms': `${GRACE_MS}`,
  'heron.instance.blocked.task.ms': '200',
  'heron.instance.reconnect.metricsmgr.interval.ms': '20',
};

/** How an instance is told to end. */
const WAYS = {
  SIGTERM: (instance: InstanceInTest) => instance.terminate(),
  'the end of its parent': (instance: InstanceInTest) => instance.losesParent(),
} as const;

async function started(t: TestContext, options: InstanceOptions): Promise<InstanceInTest> {
  const instance = await InstanceInTest.start(t, { config, ...options });
  await eventually(
    async () => (await instance.log('gateway')).includes('the task has started'),
    PATIENTLY,
  );
  return instance;
}

/**
 * One that is stuck, when its gateway has said so of this callback: on a busy machine that of the
 * module, too, may take longer than the limit.
 */
async function stuck(
  t: TestContext,
  options: InstanceOptions,
  callback = 'nextTuple',
): Promise<InstanceInTest> {
  const instance = await InstanceInTest.start(t, { config, ...options });
  const report = `BlockedTask: ${callback} of 'words'`;
  await eventually(async () => (await instance.log('gateway')).includes(report), PATIENTLY);
  return instance;
}

for (const [way, end] of Object.entries(WAYS)) {
  describe(`an instance ends by ${way}`, () => {
    it('when it is idle', async (t) => {
      const instance = await started(t, { script: 'idle' });
      end(instance);
      assert.deepEqual(await instance.end, { code: 0, signal: null, stderr: '' });
    });

    it('when it is busy', async (t) => {
      const instance = await started(t, { script: 'flood' });
      await eventually(() => instance.partners.receivedBytes > 1_000_000, PATIENTLY);
      end(instance);
      assert.deepEqual(await instance.end, { code: 0, signal: null, stderr: '' });
    });

    it('when it waits inside emit for room', async (t) => {
      const instance = await started(t, { script: 'flood', creditBytes: 1 });
      await eventually(() => instance.partners.receivedBytes > 0, PATIENTLY);
      end(instance);
      assert.deepEqual(await instance.end, { code: 0, signal: null, stderr: '' });
    });

    it('R7: when it is stuck in a loop, within the grace time, and shows where', async (t) => {
      const instance = await stuck(t, { script: 'call spin' });
      const startedAt = systemClock.now();
      end(instance);
      assert.equal((await instance.end).signal, 'SIGKILL');
      const tookMs = systemClock.now() - startedAt;
      assert.ok(tookMs < GONE_MS, `${tookMs} ms`);
      const log = await instance.log('gateway');
      const reports = log.match(/BlockedTask: nextTuple of 'words' \(task 1\)/g) ?? [];
      assert.equal(reports.length, 2, 'once while it ran, once at the end');
    });
  });
}

describe('O36: an instance that hangs is seen from its other thread', () => {
  it('in a loop: with the function and the line of the author', async (t) => {
    const instance = await stuck(t, { component: 'words', script: 'call spin' });
    const log = await instance.log('gateway');
    assert.match(log, /BlockedTask: nextTuple of 'words' \(task 1\) has not returned for/);
    assert.match(log, /at spinForEver \(.*behaviours-topology\.ts:\d+:\d+\)/);
    await eventually(
      () => instance.partners.exceptions.some((text) => text.includes('spinForEver')),
      PATIENTLY,
    );
  });

  for (const [script, what] of [
    ['timer spin', 'a callback (of a timer or a promise)'],
    ['open spin', 'open'],
    ['module spin', 'module'],
  ] as const) {
    it(`in a loop in ${script.split(' ')[0]}`, async (t) => {
      const instance = await stuck(t, { script }, what);
      const log = await instance.log('gateway');
      assert.ok(log.includes(`BlockedTask: ${what} of 'words' (task 1)`), log);
      assert.match(log, /at spinForEver/);
    });
  }

  it('in a promise that does not settle', async (t) => {
    const instance = await stuck(t, { script: 'call pend' });
    const log = await instance.log('gateway');
    assert.match(log, /BlockedTask: nextTuple of 'words' \(task 1\) waits for a promise/);
    const startedAt = systemClock.now();
    instance.terminate();
    assert.equal((await instance.end).signal, 'SIGKILL');
    assert.ok(systemClock.now() - startedAt < GONE_MS);
  });

  it('in a native call', async (t) => {
    const instance = await stuck(t, { script: 'call block' });
    assert.match(await instance.log('gateway'), /it is inside a native call/);
    const startedAt = systemClock.now();
    instance.terminate();
    assert.equal((await instance.end).signal, 'SIGKILL');
    assert.ok(systemClock.now() - startedAt < GONE_MS);
  });

  it('while its gateway goes on: it reconnects, takes plans, and reads its socket', async (t) => {
    const instance = await stuck(t, { script: 'call spin' });
    const { partners } = instance;
    const port = partners.streamManagerPort;
    const before = partners.registrations.length;
    await partners.leave();
    await partners.listen(port);
    await eventually(() => partners.registrations.length > before, PATIENTLY);
    partners.setState('PAUSED');
    for (let sets = 0; sets < 100; sets += 1) {
      partners.send({ tuples: [aTuple('x'.repeat(50_000))] });
    }
    await eventually(() => partners.unsentBytes === 0, PATIENTLY);
    assert.ok(instance.isRunning);
  });
});
