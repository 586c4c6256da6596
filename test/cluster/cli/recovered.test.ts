import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { HeronCommand } from '../../support/heron-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/*
  Deaths at least once: what was lost comes again, so the end of the topology names them as
  recovered, and `heron run` succeeds. At most once they are losses: test/cluster/killed-process.
*/

const TOPOLOGIES = join(import.meta.dirname, 'fixtures/topologies');
const HERE = 'local/tester/dev';
/** On a machine that is busy with other tests. */
const PATIENTLY = { timeoutMs: 60_000, pauseMs: 50 };
/** The second of them is held back until all deaths are over. */
const LINES = ['one', 'bad line', 'two', 'three'];
const VICTIMS = ['container_1_check_2', 'stmgr-1', 'container_1_lines_1', 'heron-tmanager'];

test('a run at least once that lost bolt, stream manager, spout and master: 0', async (t) => {
  const heron = await HeronCommand.create(t, TOPOLOGIES);
  const { path } = await temporaryFolder(t);
  const [lines, mended] = [join(path, 'lines.txt'), join(path, 'mended')];
  await writeFile(lines, `${LINES.join('\n')}\n`);
  const patience = ['--config-property', 'topology.retry.limit=1000000'];
  const args = ['letters.ts', 'letters', '--timeout', '120', ...patience, lines, mended];
  const run = heron.start(['run', HERE, ...args, '--json']);
  const taken = async (): Promise<string> =>
    (await heron.run('logs', HERE, 'letters', '--component', 'check')).stdout;
  await eventually(async () => (await taken()).includes('took three'), PATIENTLY);
  for (const victim of VICTIMS) {
    const pidOf = () => heron.processes().find(({ name }) => name === victim)?.pid;
    const pid = pidOf();
    assert.ok(pid !== undefined, victim);
    process.kill(pid, 'SIGKILL');
    await eventually(() => pidOf() !== undefined && pidOf() !== pid, PATIENTLY);
  }
  await writeFile(mended, '');
  const { code, stdout, stderr } = await run.end;
  assert.equal(code, 0, stdout + stderr);
  const { result, incidents, recovered, deadLetters } = JSON.parse(stdout) as {
    readonly result: string;
    readonly incidents: readonly unknown[];
    readonly recovered: readonly { readonly process: string }[];
    readonly deadLetters: number;
  };
  assert.deepEqual([result, incidents, deadLetters], ['completed', [], 0]);
  const named = new Set(recovered.map(({ process }) => process));
  for (const victim of VICTIMS.slice(0, -1)) assert.ok(named.has(victim), victim);
  const all = await taken();
  for (const line of LINES) assert.match(all, new RegExp(`took ${line}$`, 'm'));
});
