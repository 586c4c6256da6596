import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { EXIT } from '../../../src/base/exit-codes.ts';
import { eventually } from '../../support/eventually.ts';
import { InstanceInTest, type InstanceOptions, PATIENTLY } from '../../support/instance-in-test.ts';
import { aTuple } from '../../support/tuple-sets.ts';

/* Case O41: why an instance died is clear, for every way in which user code can kill it. */

const config = { 'heron.instance.reconnect.metricsmgr.interval.ms': '20' };

/** A place of the author's file, as far as it is fixed. */
const AUTHORS_LINE = /behaviours-topology\.ts:\d+:\d+/;

async function failing(t: TestContext, options: InstanceOptions) {
  const instance = await InstanceInTest.start(t, { config, ...options });
  if (options.component === 'work') {
    await eventually(() => instance.partners.registrations.length === 1, PATIENTLY);
    instance.partners.send({ tuples: [aTuple('heron')] });
    instance.partners.send({ endOfInput: true });
  }
  return { instance, ...(await instance.end) };
}

describe('O41: user code that throws', () => {
  for (const [script, message] of [
    ['constructor throw', "the factory of component 'words' failed: thrown on purpose"],
    ['open throw', "open of 'words' (task 1) failed: thrown on purpose"],
    ['open reject', "open of 'words' (task 1) failed: rejected on purpose"],
    ['call throw', "nextTuple of 'words' (task 1) failed: thrown on purpose"],
    ['call reject', "nextTuple of 'words' (task 1) failed: rejected on purpose"],
  ] as const) {
    it(`in ${script} ends its instance with 70, named and with the author's stack`, async (t) => {
      const { code, stderr } = await failing(t, { script });
      assert.equal(code, EXIT.userCode);
      assert.ok(stderr.includes(message), stderr);
      assert.match(stderr, AUTHORS_LINE);
    });
  }

  for (const [script, message] of [
    [
      'call throw',
      "execute of 'work' (task 2) failed on the tuple [ 'heron' ] of words/default (task 1)",
    ],
    ['finish reject', "finish of 'work' (task 2) failed: rejected on purpose"],
  ] as const) {
    it(`in ${script} of a bolt does the same`, async (t) => {
      const { code, stderr } = await failing(t, { component: 'work', script });
      assert.equal(code, EXIT.userCode);
      assert.ok(stderr.includes(message), stderr);
      assert.match(stderr, AUTHORS_LINE);
    });
  }

  it('loses nothing of what was emitted before', async (t) => {
    const { instance, code } = await failing(t, { script: 'fail 3' });
    assert.equal(code, EXIT.userCode);
    await eventually(() => instance.partners.seen.includes('default: 1 2 3'));
  });

  it('while its module is loaded names the module', async (t) => {
    const { code, stderr } = await failing(t, { script: 'module throw' });
    assert.equal(code, EXIT.userCode);
    assert.match(stderr, /the function given to topology\(\) in .* thrown on purpose in module/);
    assert.match(stderr, AUTHORS_LINE);
  });

  it('on a timer ends its instance with 70', async (t) => {
    const { code, stderr } = await failing(t, { script: 'timer throw' });
    assert.equal(code, EXIT.userCode);
    assert.match(stderr, /ends by an exception: thrown on purpose in timer/);
    assert.match(stderr, AUTHORS_LINE);
  });

  it('as a rejection that nobody awaits ends its instance with 70', async (t) => {
    const { code, stderr } = await failing(t, { script: 'call reject-unheard' });
    assert.equal(code, EXIT.userCode);
    assert.match(stderr, /ends by a rejection: nobody awaits this/);
    assert.match(stderr, AUTHORS_LINE);
  });

  it('reaches the metrics manager before the process ends', async (t) => {
    const instance = await InstanceInTest.start(t, {
      component: 'work',
      script: 'call throw',
      config,
    });
    const { partners } = instance;
    await eventually(
      async () => (await instance.log('gateway')).includes('metrics manager'),
      PATIENTLY,
    );
    await eventually(() => partners.registrations.length === 1, PATIENTLY);
    partners.send({ tuples: [aTuple('heron')] });
    await instance.end;
    await eventually(() => partners.exceptions.length === 1, PATIENTLY);
    assert.match(partners.exceptions[0] ?? '', /thrown on purpose in call[^]*behaviours-topology/);
  });
});

describe('O41: user code that ends its process', () => {
  for (const [detail, expected] of [
    ['0', EXIT.userCode],
    ['7', 7],
  ] as const) {
    it(`by process.exit(${detail}) has failed, and is shown the call`, async (t) => {
      const { code, stderr } = await failing(t, { script: `call ${detail}` });
      assert.equal(code, expected);
      assert.ok(stderr.includes(`some code called process.exit(${detail})`), stderr);
      assert.match(stderr, AUTHORS_LINE);
      assert.match(stderr, /at .*nextTuple/);
    });
  }

  it('by taking all memory is told so by the platform', async (t) => {
    const environment = { NODE_OPTIONS: '--max-old-space-size=64' };
    const { code, signal, stderr } = await failing(t, { script: 'call exhaust', environment });
    assert.ok(signal !== null || code !== 0);
    assert.match(stderr, /heap out of memory/);
  });
});

describe('an instance that cannot start', () => {
  it('R2: because its module differs from what was submitted says in what', async (t) => {
    const environment = { WORDS_PARALLELISM: '2' };
    const { code, stderr } = await failing(t, { script: 'idle', environment });
    assert.equal(code, EXIT.userCode);
    assert.match(stderr, /the module describes another topology than at submit: .*parallelism/);
  });

  it('because its definition is damaged says which file', async (t) => {
    const { code, stderr } = await failing(t, {
      script: 'idle',
      flags: { 'definition-file': 'package.json' },
    });
    assert.equal(code, EXIT.failure);
    assert.match(stderr, /the topology definition package\.json cannot be read/);
  });

  it('because a flag is wrong says which', async (t) => {
    const { code, stderr } = await failing(t, { script: 'idle', flags: { 'task-id': 'one' } });
    assert.equal(code, EXIT.badArguments);
    assert.match(stderr, /--task-id: expected a whole number/);
  });
});
