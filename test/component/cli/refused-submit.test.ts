import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { runInProcess } from '../../support/command-line.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/* O42: what cannot run is refused in words, and nothing of it is stored. */

const FIXTURES = join(import.meta.dirname, '../../cluster/cli/fixtures/topologies');
const HERE = 'local/tester/dev';

async function refusal(...args: readonly string[]) {
  await using folder = await temporaryFolder();
  const { code, stdout } = await runInProcess(folder.path, ['submit', '--json', ...args]);
  assert.equal(existsSync(join(folder.path, 'repository')), false, 'something was stored');
  const { error } = JSON.parse(stdout) as {
    readonly error: { readonly code: string; readonly message: string };
  };
  return { exit: code, ...error };
}

const FAULTS: readonly (readonly [fault: string, exit: number, code: string, message: RegExp])[] = [
  ['cycle', 103, 'INVALID_TOPOLOGY', /the bolts form a cycle: \w+ → \w+ → \w+/],
  ['duplicate', 103, 'INVALID_TOPOLOGY', /component 'words': the name is used more than once/],
  ['no-spout', 103, 'INVALID_TOPOLOGY', /no spout.*\n.*'first' reads nothing/],
  ['name', 103, 'INVALID_TOPOLOGY', /spout '\.\.\/words': its name must have/],
  ['parallelism', 103, 'INVALID_TOPOLOGY', /its parallelism of 1000000000000000 is above 100000/],
  ['setting', 1, 'INVALID_CONFIG', /spout 'words': heron\.instance\.set\.data.* 10485760 bytes/],
  ['contradiction', 1, 'INVALID_CONFIG', /a time-out of 60 s cannot hold/],
  ['resources', 1, 'INVALID_CONFIG', /1099511627776|1 TiB|1024 GiB/],
];

describe('a topology that cannot run', () => {
  for (const [fault, exit, code, message] of FAULTS) {
    test(`${fault}: ${exit}`, async () => {
      const module = join(FIXTURES, 'faulty-graph.ts');
      const answer = await refusal(HERE, module, 'faulty', fault);
      assert.deepEqual([answer.exit, answer.code], [exit, code], answer.message);
      assert.match(answer.message, message);
    });
  }
});

describe('a name that cannot be one', () => {
  for (const name of ['', '/', '..', 'a/b', 'ü', '😀', 'a b', 'a\nb', 'x'.repeat(10_240)]) {
    test(JSON.stringify(name.slice(0, 10)), async () => {
      const answer = await refusal(HERE, join(FIXTURES, 'short.ts'), '--', name);
      assert.deepEqual([answer.exit, answer.code], [1, 'INVALID_ARGUMENT']);
      assert.match(answer.message, /^the topology's name '.*' must have 1 to 128 letters/);
      assert.ok(answer.message.length < 300);
    });
  }
});
