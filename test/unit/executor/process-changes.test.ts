import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processChanges } from '../../../src/executor/process-changes.ts';
import type { WantedProcess } from '../../../src/executor/wanted-processes.ts';

/** `a` or `a=1`: a process with that name and flag. */
function processesOf(text: string): readonly WantedProcess[] {
  return text
    .split(' ')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', flag] = part.split('=');
      const flags = flag === undefined ? [] : [`--port=${flag}`];
      return { name, role: 'instance', entry: 'instance/main', flags, heapLimitMb: undefined };
    });
}

const cases: readonly [
  present: string,
  wanted: string,
  start: string,
  stop: string,
  replace: string,
  keep: string,
][] = [
  ['', '', '', '', '', ''],
  ['', 'a b', 'a b', '', '', ''],
  ['a b', '', '', 'a b', '', ''],
  ['a b', 'b a', '', '', '', 'b a'],
  ['a=1 b=1', 'a=2 b=1', '', '', 'a', 'b'],
  ['a=1', 'a', '', '', 'a', ''],
  ['a b=1', 'b=2 c', 'c', 'a', 'b', ''],
];

for (const [present, wanted, start, stop, replace, keep] of cases) {
  test(`[${present}] to [${wanted}]: start [${start}] stop [${stop}] replace [${replace}]`, () => {
    const changes = processChanges(processesOf(present), processesOf(wanted));
    const names = (processes: readonly { readonly name: string }[]): string =>
      processes.map(({ name }) => name).join(' ');
    assert.deepEqual(
      {
        start: names(changes.start),
        stop: changes.stop.join(' '),
        replace: names(changes.replace),
        keep: names(changes.keep),
      },
      { start, stop, replace, keep },
    );
  });
}

/** What is done with a process whose flags, or more, become others. */
function fateOf(before: readonly string[], after: readonly string[], changes = {}): string {
  const process = { name: 'a', role: 'instance', entry: 'instance/main' } as const;
  const present: WantedProcess = { ...process, flags: before, heapLimitMb: 128 };
  const { replace, keep } = processChanges([present], [{ ...present, flags: after, ...changes }]);
  if (keep.length === 1) assert.deepEqual(keep[0]?.flags, after, 'with what is wanted now');
  return replace.length === 1 ? 'replace' : 'keep';
}

test('another entry is another process', () => {
  assert.equal(fateOf([], [], { entry: 'other/main' }), 'replace');
});

test('what is volatile is no reason to replace a process', () => {
  assert.equal(fateOf([], [], { heapLimitMb: 64 }), 'keep');
  assert.equal(
    fateOf(['--task-id=1', '--component-index=1'], ['--task-id=1', '--component-index=0']),
    'keep',
  );
  assert.equal(fateOf(['--instance-ids=a,b', '--id=x'], ['--instance-ids=a', '--id=x']), 'keep');
  assert.equal(
    fateOf(['--component-index=1', '--task-id=1'], ['--component-index=0', '--task-id=2']),
    'replace',
  );
  assert.equal(fateOf(['--instance-id=a'], ['--instance-id=b']), 'replace');
});
