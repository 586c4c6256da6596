import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { InstanceInTest, PATIENTLY } from '../../support/instance-in-test.ts';
import { peakMemoryMb } from '../../support/process-table.ts';
import { aTuple } from '../../support/tuple-sets.ts';

const OUTPUTS = 1_000_000;
const CREDIT_BYTES = 256 * 1024;
/** A process with its rings has some 100 MiB; what it emits here takes about 20 bytes a tuple. */
const MEMORY_MB_MAX = 200;

function wordsOf(seen: readonly string[]): number[] {
  return seen
    .filter((line) => line.startsWith('default: '))
    .flatMap((line) => line.split(' ').slice(1).map(Number));
}

test('O09: one input becomes a million outputs for a slow receiver in little memory', async (t) => {
  const { partners, ...instance } = await start(t, `burst ${OUTPUTS}`);
  partners.send({ tuples: [aTuple('go')] });
  partners.send({ endOfInput: true });
  let granted = 0;
  await eventually(
    () => {
      // What has arrived is worked off only now: the instance has to wait inside emit.
      const fresh = partners.receivedBytes - granted;
      if (fresh > 0) partners.grant(fresh);
      granted += fresh;
      assert.ok(partners.seen.includes('end 2'), `${partners.receivedBytes} bytes so far`);
    },
    { ...PATIENTLY, pauseMs: 1 },
  );
  const words = wordsOf(partners.seen);
  assert.equal(words.length, OUTPUTS);
  assert.ok(words.every((word, index) => word === index + 1));
  const peak = await instance.peakMemoryMb();
  assert.ok(peak > 0 && peak < MEMORY_MB_MAX, `${peak} MiB`);
});

test('a concurrent bolt emits all that it has received', async (t) => {
  const { partners } = await start(t, 'settle', { 'topology.bolt.concurrency': '16' });
  const count = 2_000;
  partners.send({ tuples: Array.from({ length: count }, (_, index) => aTuple(index)) });
  partners.send({ endOfInput: true });
  await eventually(() => assert.ok(partners.seen.includes('end 2')), PATIENTLY);
  const words = wordsOf(partners.seen).toSorted((a, b) => a - b);
  assert.deepEqual(
    words,
    Array.from({ length: count }, (_, index) => index),
  );
});

async function start(
  t: Parameters<typeof InstanceInTest.start>[0],
  script: string,
  config: Readonly<Record<string, string>> = {},
) {
  const instance = await InstanceInTest.start(t, {
    component: 'work',
    script,
    config: { 'heron.instance.reconnect.metricsmgr.interval.ms': '20', ...config },
    creditBytes: CREDIT_BYTES,
  });
  await eventually(() => assert.equal(instance.partners.registrations.length, 1), PATIENTLY);
  return { partners: instance.partners, peakMemoryMb: async () => peakMemoryMb(instance.pid) };
}
