import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemMachineTime } from '../../../src/base/machine-time.ts';

const MODULE = join(import.meta.dirname, '../../../src/base/machine-time.ts');
const TELL = `import { systemMachineTime } from ${JSON.stringify(MODULE)};
process.stdout.write(JSON.stringify(systemMachineTime()));`;

test('processes of one machine tell the same time', { skip: process.platform !== 'linux' }, () => {
  const before = systemMachineTime();
  const told = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', TELL], { encoding: 'utf8' }),
  ) as typeof before;
  const after = systemMachineTime();
  assert.notEqual(before.bootId, '');
  assert.deepEqual([told.bootId, after.bootId], [before.bootId, before.bootId]);
  assert.ok(before.ms <= told.ms && told.ms <= after.ms, `${before.ms} ${told.ms} ${after.ms}`);
});
