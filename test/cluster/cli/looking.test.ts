import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { nodeArguments, packageRoot } from '../../../src/base/entry.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { eventually } from '../../support/eventually.ts';
import { HeronCommand, type JsonValue } from '../../support/heron-command.ts';

/* `heron top` and `heron explore` of a topology that runs, on a real terminal too. */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const HERE = 'local/tester/dev';
const NAME = 'words';
const PATIENTLY = { timeoutMs: 120_000, pauseMs: 100 };
/** Gives a program a terminal of its own. */
const SCRIPT = '/usr/bin/script';

const ENTERED = '\u001B[?1049h';
const LEFT = '\u001B[?25h\u001B[?1049l';

interface OnTerminal {
  readonly child: ChildProcess;
  /** Everything that came on the terminal. */
  readonly screen: () => string;
  readonly end: Promise<number | null>;
}

/** `top` on a terminal, and then what the terminal's settings are. */
function topOnTerminal(heron: HeronCommand, ...args: readonly string[]): OnTerminal {
  const command = [process.execPath, ...nodeArguments(), join(packageRoot(), 'bin/heron.mjs')];
  const line = [...command, 'top', HERE, ...args, '--interval', '0.2'].join(' ');
  const shell = `stty rows 24 cols 100; ${line}; code=$?; stty -a; exit $code`;
  const child = spawn(SCRIPT, ['-qefc', shell, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      ...process.env,
      HERON_DATA: heron.dataRoot,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      TERM: 'xterm',
    },
  });
  let seen = '';
  child.stdout?.on('data', (data: Buffer) => {
    seen += data.toString();
  });
  const end = once(child, 'close').then(([code]) => code as number | null);
  return { child, screen: () => seen, end };
}

function wordsOn({ screen }: OnTerminal): string {
  return stripVTControlCharacters(screen());
}

function assertGivenBack(screen: string): void {
  const [before = '', after = ''] = screen.split(LEFT);
  assert.ok(before.includes(ENTERED), 'it had the screen');
  assert.ok(after.length > 0, 'it gave the screen back');
  assert.match(after, /[^-]icanon/, 'lines are edited again');
  assert.match(after, /[^-]echo /, 'keys are echoed again');
}

describe('a topology that runs', () => {
  test('is seen by top and explore', async (t) => {
    const heron = await HeronCommand.create(t, TOPOLOGIES);
    const often = ['--config-property', 'heron.metrics.export.interval.ms=500'];
    const submit = ['submit', HERE, 'endless.ts', NAME, '--timeout', '120', ...often];
    const submitted = await heron.run(...submit);
    assert.equal(submitted.code, 0, submitted.stderr);

    await t.test('as one value for each look, with what flows', async () => {
      const flowing = await eventually(async () => {
        const { value } = await heron.json('top', HERE, NAME);
        assert.ok(Number(value['emitted']) > 0 && Number(value['executed']) > 0);
        return value;
      }, PATIENTLY);
      assert.deepEqual(
        [flowing['state'], flowing['containersUp'], flowing['containersWanted']],
        ['RUNNING', 2, 2],
      );
      const tasks = flowing['tasks'] as readonly JsonValue[];
      assert.deepEqual(
        new Set(tasks.map(({ instance, state }) => `${String(instance)} ${String(state)}`)),
        new Set(['container_1_sink_2 running', 'container_1_words_1 running']),
      );
      const several = ['top', HERE, '--iterations', '2', '--interval', '0.1', '--json'];
      const { stdout } = await heron.run(...several);
      const looks = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as JsonValue);
      assert.equal(looks.length, 2);
      assert.ok(looks.every(({ place }) => place === HERE));
    });

    await t.test('by its plans and what its instances have done', async () => {
      const clusters = await heron.json('explore', 'clusters');
      assert.deepEqual(clusters.value, { clusters: ['local'] });
      const plan = await heron.json('explore', 'physical-plan', 'containers', HERE, NAME);
      const [only] = plan.value['containers'] as readonly JsonValue[];
      assert.deepEqual([only?.['id'], only?.['spouts'], only?.['bolts']], [1, 1, 1]);
      const told = await heron.json('explore', 'physical-plan', 'metrics', HERE, NAME);
      const metrics = told.value['metrics'] as readonly JsonValue[];
      assert.ok(
        metrics.some(({ component, emitted }) => component === 'words' && emitted !== null),
      );
    });

    await t.test('on a terminal, until it is quit', { skip: !existsSync(SCRIPT) }, async () => {
      const top = topOnTerminal(heron, NAME);
      await eventually(() => assert.match(wordsOn(top), /container_1_sink_2/), PATIENTLY);
      assert.match(top.screen(), /q quit/);
      top.child.stdin?.write('q');
      assert.equal(await top.end, 0);
      assertGivenBack(top.screen());
    });

    await t.test(
      'on a terminal, until a signal ends it',
      { skip: !existsSync(SCRIPT) },
      async () => {
        const top = topOnTerminal(heron);
        await eventually(() => assert.match(wordsOn(top), /words +RUNNING/), PATIENTLY);
        const isTop = ({ commandLine }: { readonly commandLine: string }): boolean =>
          commandLine.startsWith(process.execPath) && commandLine.includes('heron.mjs top ');
        const found = heron.processes().find(isTop);
        assert.ok(found !== undefined);
        process.kill(found.pid, 'SIGTERM');
        await top.end;
        assertGivenBack(top.screen());
      },
    );

    await t.test('a task that is not there is not shown as idle', async () => {
      const sink = heron.processes().find(({ name }) => name === 'container_1_sink_2');
      assert.ok(sink !== undefined);
      const manager = heron.processes().find(({ name }) => name === 'heron-tmanager');
      assert.ok(manager !== undefined);
      // A master that hangs: nobody knows what flows, and nobody waits for it.
      process.kill(manager.pid, 'SIGSTOP');
      try {
        const { code, value } = await heron.json('top', HERE, NAME);
        assert.equal(code, 0);
        assert.deepEqual([value['emitted'], value['executed']], [null, null]);
        assert.match(String(value['unknownBecause']), /no answer|does not answer/);
      } finally {
        process.kill(manager.pid, 'SIGCONT');
      }
    });
    assert.equal((await heron.run('kill', HERE, NAME)).code, 0);
    assert.equal((await heron.run('top', HERE, NAME)).code, 101);
  });
});
