import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { ownIdentity } from '../../../src/base/process-identity.ts';
import { StatusCode } from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { InstanceInTest, PATIENTLY } from '../../support/instance-in-test.ts';

/*
  Row S41: the process of an instance was stopped until another one had taken its place, and goes
  on. Its connection is gone by then, and its stream manager knows better.
*/

const config = {
  'heron.instance.reconnect.streammgr.interval.ms': '20',
  'heron.instance.reconnect.metricsmgr.interval.ms': '20',
  'heron.shutdown.grace.ms': '1000',
  'heron.instance.blocked.task.ms': '200',
};

/** One that was stopped in the middle of its work, and whose place is taken when it goes on. */
async function zombie(t: TestContext, script: string): Promise<InstanceInTest> {
  const instance = await InstanceInTest.start(t, { script, config, creditBytes: 1_000_000_000 });
  const { partners } = instance;
  if (script === 'flood') await eventually(() => partners.receivedBytes > 1_000_000, PATIENTLY);
  else
    await eventually(
      async () => (await instance.log('gateway')).includes('BlockedTask'),
      PATIENTLY,
    );
  process.kill(instance.pid, 'SIGSTOP');
  const port = partners.streamManagerPort;
  await partners.leave();
  partners.status = StatusCode.NOTOK;
  partners.saysReplaced = true;
  await partners.listen(port);
  return instance;
}

describe('an instance whose place was taken while it was stopped', () => {
  it('S41: sends nothing more, ends by itself, and says why', async (t) => {
    const instance = await zombie(t, 'flood');
    const { partners } = instance;
    const before = partners.seen.length;
    process.kill(instance.pid, 'SIGCONT');
    const { code, stderr } = await instance.end;
    assert.equal(code, 77);
    assert.match(stderr, /the stream manager refused: as the test says/);
    assert.equal(partners.seen.length, before, 'nothing was sent');
    assert.equal(partners.registrations.length, 2, 'it asked once');
    assert.doesNotMatch(await instance.log('task'), /"message":"stopped"/);
  });

  it('S41: is killed within the grace time when it hangs', async (t) => {
    const instance = await zombie(t, 'call spin');
    process.kill(instance.pid, 'SIGCONT');
    assert.equal((await instance.end).signal, 'SIGKILL');
    assert.match(await instance.log('gateway'), /the stream manager refused: as the test says/);
  });

  it('says with each registration which process it is', async (t) => {
    const { partners, pid } = await InstanceInTest.start(t, { script: 'idle', config });
    await eventually(() => partners.registrations.length > 0, PATIENTLY);
    const { bootId = '', startTicks = 0n } = partners.registrations[0]?.request ?? {};
    const own = ownIdentity();
    assert.equal(bootId, own.bootId);
    assert.ok(pid !== own.pid && startTicks > BigInt(own.startTicks), 'it was started later');
  });
});
