import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryFile, nodeArguments } from '../../../../src/base/entry.ts';
import { parseCommandLine } from '../../../../src/simulation/machine/programs.ts';

for (const entry of [
  'scheduler/local/main',
  'executor/main',
  'topology-master/main',
  'stream-manager/main',
  'metrics-cache/main',
  'metrics-manager/main',
  'instance/main',
]) {
  test(`${entry} is found behind the arguments of Node`, () => {
    const args = [...nodeArguments(), '--max-old-space-size=64', entryFile(entry), '--id=1', 'x'];
    const line = parseCommandLine(args);
    assert.match(line?.program.options.name ?? '', /^heron-/);
    assert.deepEqual(line?.arguments, ['--id=1', 'x']);
  });
}

test('what the simulator does not know is no program of it', () => {
  assert.equal(parseCommandLine(['--id=1', '/bin/ls']), undefined);
  assert.equal(parseCommandLine([]), undefined);
});
