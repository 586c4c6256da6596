import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspectFlags, isInspected } from '../../../src/executor/inspect-flags.ts';

test('only the tasks of the component listen for a debugger, each on a port of its own', () => {
  const flagsOf = (component: string, index: number, variable: string | undefined) =>
    inspectFlags(
      { flags: [`--component-name=${component}`, `--component-index=${index}`] },
      variable === undefined ? {} : { HERON_INSPECT: variable },
    );
  assert.deepEqual(flagsOf('count', 0, 'count=9229'), ['--inspect=127.0.0.1:9229']);
  assert.deepEqual(flagsOf('count', 2, 'count=9229'), ['--inspect=127.0.0.1:9231']);
  assert.deepEqual(flagsOf('counter', 0, 'count=9229'), []);
  assert.deepEqual(flagsOf('count', 0, 'nonsense'), []);
  assert.deepEqual(flagsOf('count', 0, undefined), []);
  assert.deepEqual(inspectFlags({ flags: ['--id=stmgr-1'] }, { HERON_INSPECT: 'count=9229' }), []);
});

test('a process that a debugger may stop is told from others', () => {
  assert.ok(isInspected(['--inspect=127.0.0.1:9229'], {}));
  assert.ok(isInspected(['--max-old-space-size=64', '--inspect-brk'], {}));
  assert.ok(isInspected([], { NODE_OPTIONS: '--no-warnings --inspect=0' }));
  assert.ok(!isInspected(['--max-old-space-size=64', 'main.ts', '--id=inspect'], {}));
  assert.ok(!isInspected([], { NODE_OPTIONS: '--no-warnings' }));
});
