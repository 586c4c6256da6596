import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { exitCodeTable, lineOf } from '../../support/exit-code-table.ts';
import { HeronCommand, type JsonValue } from '../../support/heron-command.ts';

/* The column of docs/cli.md's table that needs a running topology (O24). */

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const ABOUT = { place: 'local/tester/dev', name: 'words', module: 'endless.ts' };
/** On a machine that is busy with other tests. */
const PATIENTLY = ['--timeout', '120'] as const;
const WITH_TIMEOUT: ReadonlySet<string> = new Set(['submit', 'run', 'restart', 'update', 'kill']);

test('each command finds a topology that runs', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const submit = ['submit', ABOUT.place, ABOUT.module, ABOUT.name, ...PATIENTLY];
  for (const row of exitCodeTable()) {
    const [command = ''] = row.words;
    await t.test(`${row.words.join(' ')}: ${row.codes.runs}`, async () => {
      if (heron.processes().length === 0) assert.equal((await heron.run(...submit)).code, 0);
      const timeout = WITH_TIMEOUT.has(command) ? PATIENTLY : [];
      const line = [...lineOf(row, ABOUT), ...timeout, '--json'];
      const { code, stdout } = await heron.run(...line);
      assert.equal(code, row.codes.runs, stdout);
      if (command === 'logs') return; // A value for each line.
      const value = JSON.parse(stdout) as JsonValue;
      assert.equal(value['error'] === undefined, code === 0);
      if (command !== 'kill') return;
      assert.equal(value['state'], 'KILLED');
      assert.deepEqual(heron.processes(), []);
      // A drained topology is remembered as completed.
      const again = await heron.json('kill', ABOUT.place, 'words');
      assert.equal(again.code, 101);
    });
  }
  await heron.run('kill', ABOUT.place, 'words');
});
