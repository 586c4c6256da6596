import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { inspectModule } from '../../../src/package/inspect-module.ts';
import { decodeTopology } from '../../../src/wire/topology.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { moduleFolder, SMALL_TOPOLOGY } from '../../support/module-folder.ts';

const AUTHORS_FILE = '/home/me/words.ts';
const WAIT = 'await new Promise((resolve) => setTimeout(resolve, 1e6));';

async function inspectText(
  t: TestContext,
  text: string,
  clock: Clock = systemClock,
): Promise<Uint8Array> {
  const folder = await moduleFolder(t, { 'words.ts': text });
  const request = {
    file: join(folder, 'words.ts'),
    shownAs: AUTHORS_FILE,
    name: undefined,
    arguments: ['2'],
    baseConfig: new Map(),
    config: new Map([['topology.stmgrs', '3']]),
    idSuffix: '-1',
    initialState: 'PAUSED',
    moduleFile: 'topology.mjs',
  } as const;
  return inspectModule(request, clock);
}

describe('inspecting a topology module in a process of its own', () => {
  it('returns the definition as the state manager keeps it', async (t) => {
    const topology = decodeTopology(await inspectText(t, SMALL_TOPOLOGY));
    assert.equal(topology.id, 'small-1');
    assert.equal(topology.name, 'small');
    assert.equal(topology.state, 'PAUSED');
    assert.equal(topology.config.get('topology.stmgrs'), '3');
    assert.deepEqual(topology.module, { file: 'topology.mjs', arguments: ['2'] });
    assert.deepEqual(
      topology.components.map(({ name, parallelism }) => [name, parallelism]),
      [
        ['words', 1],
        ['sink', 2],
      ],
    );
  });

  it('does not wait for what the module leaves running', async (t) => {
    const text = `${SMALL_TOPOLOGY}\nsetInterval(() => {}, 1000);`;
    assert.equal(decodeTopology(await inspectText(t, text)).name, 'small');
  });

  it('passes on errors with the stack of the author', async (t) => {
    await assert.rejects(inspectText(t, `\nthrow new RangeError('bad');`), (error: Error) => {
      assert.equal((error as Error & { code: string }).code, 'MODULE_FAILED');
      assert.equal(error.message, `the module ${AUTHORS_FILE} failed while it was loaded: bad`);
      assert.match(error.stack ?? '', /^RangeError: bad\n.*words\.ts:2:/);
      return true;
    });
    await assert.rejects(inspectText(t, 'export {};'), { code: 'MODULE_WITHOUT_TOPOLOGY' });
  });

  const failures: readonly (readonly [title: string, text: string, message: string])[] = [
    ['exits', 'process.exit(3);', 'called process.exit(3) while it was loaded'],
    ['exits as if all were well', 'process.exit(0);', 'called process.exit(0) while it was loaded'],
    [
      'kills its process',
      `process.kill(process.pid, 'SIGKILL'); ${WAIT}`,
      'ended the process by SIGKILL while it was loaded',
    ],
    [
      'throws in a callback while it loads',
      `process.nextTick(() => { throw new Error('later'); }); ${WAIT}`,
      'failed while it was loaded: later',
    ],
    [
      'forgets a promise that rejects',
      `void Promise.reject(new Error('lost')); ${WAIT}`,
      'failed while it was loaded: lost',
    ],
    ['disconnects', `process.disconnect(); ${WAIT}`, 'called process.exit(1) while it was loaded'],
  ];
  for (const [title, text, message] of failures) {
    it(`says so when the module ${title}`, async (t) => {
      await assert.rejects(inspectText(t, text), {
        code: 'MODULE_FAILED',
        message: `the module ${AUTHORS_FILE} ${message}`,
      });
    });
  }

  it('ends a module that never ends loading', async (t) => {
    const clock = new ManualClock();
    const inspected = inspectText(t, 'for (;;) {}', clock);
    const started = assert.rejects(inspected, {
      code: 'MODULE_FAILED',
      message: new RegExp(`${AUTHORS_FILE} was still loading after 30 s; is there an endless`),
    });
    // The limit is set as soon as the folder is there and the process starts.
    const ticking = systemClock.every(5, () => clock.advance(clock.pendingTimers > 0 ? 30_000 : 0));
    await started;
    ticking.cancel();
    assert.equal(clock.pendingTimers, 0);
  });
});
