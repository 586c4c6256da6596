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
][] = [
  ['', '', '', '', ''],
  ['', 'a b', 'a b', '', ''],
  ['a b', '', '', 'a b', ''],
  ['a b', 'b a', '', '', ''],
  ['a=1 b=1', 'a=2 b=1', '', '', 'a'],
  ['a=1', 'a', '', '', 'a'],
  ['a b=1', 'b=2 c', 'c', 'a', 'b'],
];

for (const [present, wanted, start, stop, replace] of cases) {
  test(`[${present}] to [${wanted}]: start [${start}] stop [${stop}] replace [${replace}]`, () => {
    const changes = processChanges(processesOf(present), processesOf(wanted));
    const names = (processes: readonly { readonly name: string }[]): string =>
      processes.map(({ name }) => name).join(' ');
    assert.deepEqual(
      {
        start: names(changes.start),
        stop: changes.stop.join(' '),
        replace: names(changes.replace),
      },
      { start, stop, replace },
    );
  });
}

test('another heap limit or entry is another process', () => {
  const [one] = processesOf('a');
  assert.ok(one !== undefined);
  assert.equal(processChanges([one], [{ ...one, heapLimitMb: 64 }]).replace.length, 1);
  assert.equal(processChanges([one], [{ ...one, entry: 'other/main' }]).replace.length, 1);
});
