import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ENGINE_VERSION } from '../../../src/base/version.ts';
import { FrameAssembler } from '../../../src/wire/frame.ts';
import { StatusCode } from '../../../src/wire/messages.ts';
import { eventually } from '../../support/eventually.ts';
import { InstanceInTest, PATIENTLY } from '../../support/instance-in-test.ts';
import { aTuple } from '../../support/tuple-sets.ts';

const config = {
  'heron.instance.reconnect.streammgr.interval.ms': '20',
  'heron.instance.reconnect.metricsmgr.interval.ms': '20',
};

function goldenPayload(name: string): Buffer {
  const bytes = readFileSync(new URL(`../../golden/packets/${name}.bin`, import.meta.url));
  const assembler = new FrameAssembler(bytes.length);
  assembler.feed(bytes);
  return Buffer.from(assembler.next()?.payload ?? assert.fail('a packet has been recorded'));
}

describe('an instance registers', () => {
  for (const { session, topology, id, component, task, index } of [
    {
      session: 'py-plain',
      topology: 'g-plain',
      id: 'g-plainb9ecdd7a-76bf-48b4-8fdc-a6da55d1296e',
      component: 'count',
      task: 4,
      index: 1,
    },
    {
      session: 'java-acked',
      topology: 'g-jacked',
      id: 'g-jackedf8814f75-32a8-41e1-9cc6-705008b7a03a',
      component: 'word',
      task: 1,
      index: 0,
    },
  ]) {
    it(`with the bytes of Heron's own (${session}), and ours behind them`, async (t) => {
      const instance = await InstanceInTest.start(t, {
        script: 'idle',
        flags: {
          'topology-name': topology,
          'topology-id': id,
          'instance-id': `container_1_${component}_${task}`,
          'component-name': component,
          'task-id': `${task}`,
          'component-index': `${index}`,
        },
      });
      const { registrations } = instance.partners;
      await eventually(() => registrations.length > 0, PATIENTLY);
      const { payload, request } = registrations[0] ?? assert.fail('it has registered');
      const golden = goldenPayload(`${session}-from-RegisterInstanceRequest-1`);
      assert.deepEqual(payload.subarray(0, golden.length), golden);
      const { token, engineVersion, creditBytes, ended } = request;
      assert.deepEqual(
        { token, engineVersion, creditBytes, ended },
        { token: 'secret', engineVersion: ENGINE_VERSION, creditBytes: 524_288n, ended: false },
      );
    });
  }

  it('again and again while it is refused, and says why', async (t) => {
    const instance = await InstanceInTest.start(t, { script: 'idle', config });
    instance.partners.status = StatusCode.NOTOK;
    await eventually(() => instance.partners.registrations.length > 2, PATIENTLY);
    assert.match(await instance.log('gateway'), /the stream manager refused: as the test says/);
    assert.ok(instance.isRunning);
  });

  it('with its metrics manager', async (t) => {
    const { partners } = await InstanceInTest.start(t, { script: 'idle', config });
    await eventually(() => partners.publishers.length > 0, PATIENTLY);
    assert.match(String(partners.publishers[0]), /container_1_words_1/);
  });
});

describe('an instance', () => {
  it('emits, says that it has ended, and waits to be stopped', async (t) => {
    const instance = await InstanceInTest.start(t, { script: 'count 3', config });
    const { partners } = instance;
    await eventually(() => partners.seen.includes('end 1'), PATIENTLY);
    assert.deepEqual(partners.seen, ['default: 1 2 3', 'end 1']);
    assert.ok(instance.isRunning);
    instance.terminate();
    assert.deepEqual(await instance.end, { code: 0, signal: null, stderr: '' });
  });

  it('R3: says again that it has ended when its stream manager comes back', async (t) => {
    const { partners } = await InstanceInTest.start(t, { script: 'count 3', config });
    await eventually(() => partners.seen.includes('end 1'), PATIENTLY);
    const port = partners.streamManagerPort;
    await partners.leave();
    await partners.listen(port);
    await eventually(() => partners.seen.length === 3, PATIENTLY);
    assert.deepEqual(partners.seen, ['default: 1 2 3', 'end 1', 'end 1']);
    assert.deepEqual(
      partners.registrations.map(({ request }) => request.ended),
      [false, true],
    );
  });

  it('goes on with what it has not sent when its stream manager comes back', async (t) => {
    const { partners } = await InstanceInTest.start(t, { script: 'flood', config, creditBytes: 1 });
    await eventually(() => partners.seen.length === 1, PATIENTLY);
    const port = partners.streamManagerPort;
    await partners.leave();
    await partners.listen(port);
    await eventually(() => partners.seen.length === 2, PATIENTLY);
    partners.grant(40_000);
    await eventually(() => partners.seen.length > 2, PATIENTLY);
  });

  it('emits only while its topology runs', async (t) => {
    const { partners } = await InstanceInTest.start(t, {
      script: 'flood',
      config,
      state: 'PAUSED',
      creditBytes: 1,
    });
    await eventually(() => partners.registrations.length === 1, PATIENTLY);
    partners.setState('PAUSED');
    assert.deepEqual(partners.seen, []);
    partners.setState('RUNNING');
    await eventually(() => partners.seen.length > 0, PATIENTLY);
    partners.setState('PAUSED');
    partners.grant(1_000_000_000);
    let before = -1;
    await eventually(() => {
      const isQuiet = before === partners.seen.length;
      before = partners.seen.length;
      return isQuiet;
    }, PATIENTLY);
    partners.setState('RUNNING');
    await eventually(() => partners.seen.length > before, PATIENTLY);
  });

  for (const script of ['echo', 'settle']) {
    it(`executes in order, credits, and ends after its input (${script})`, async (t) => {
      const { partners } = await InstanceInTest.start(t, { component: 'work', script, config });
      await eventually(() => partners.registrations.length === 1, PATIENTLY);
      partners.send({ tuples: [aTuple('a'), aTuple('b')] });
      partners.send({ tuples: [aTuple(1n), aTuple(new Date(0))] });
      partners.send({ endOfInput: true });
      await eventually(() => partners.seen.includes('end 2'), PATIENTLY);
      const words = partners.seen.flatMap((one) => /^default: (.*)/.exec(one)?.slice(1) ?? []);
      assert.equal(words.join(' '), `a b 1 ${String(new Date(0))}`);
      assert.ok(partners.seen.some((one) => one.startsWith('consumed ')));
    });
  }

  it('R15: takes and sends sets that are larger than its rings', async (t) => {
    const { partners } = await InstanceInTest.start(t, {
      component: 'work',
      script: 'echo',
      config: { ...config, 'heron.instance.queue.bytes': '65536' },
    });
    const large = 'x'.repeat(3_000_000);
    partners.send({ tuples: [aTuple('a')] });
    await eventually(() => partners.registrations.length === 1, PATIENTLY);
    partners.send({ tuples: [{ values: [textValue(large)] }] });
    partners.send({ tuples: [aTuple('b')] });
    partners.send({ endOfInput: true });
    await eventually(() => partners.seen.includes('end 2'), PATIENTLY);
    const sets = partners.seen.filter((one) => one.startsWith('default'));
    assert.deepEqual(
      sets.map((one) => one.length),
      [large.length + 9, 10],
    );
  });

  it('R4: sends no more than its window, and goes on when it is granted', async (t) => {
    const window = 100_000;
    const { partners } = await InstanceInTest.start(t, {
      script: 'flood',
      config,
      creditBytes: window,
    });
    await eventually(() => partners.receivedBytes >= window, PATIENTLY);
    const beyond = partners.receivedBytes - window;
    assert.ok(beyond < 32_768, `${beyond} bytes too many`);
    partners.grant(beyond + 1);
    await eventually(() => partners.receivedBytes > window + beyond, PATIENTLY);
    assert.ok(partners.receivedBytes < window + beyond + 32_769);
  });

  it('works with a stream manager that knows no credits', async (t) => {
    const { partners } = await InstanceInTest.start(t, {
      script: 'count 200000',
      config,
      creditBytes: undefined,
    });
    await eventually(() => partners.seen.includes('end 1'), PATIENTLY);
    const words = partners.seen.flatMap((one) => one.split(' ').slice(1));
    assert.equal(words.length, 200_000 + 1);
  });
});

/** MessagePack of a text beyond 64 KiB. */
function textValue(text: string): Uint8Array {
  const head = Buffer.from([0xdb, 0, 0, 0, 0]);
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}
