import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { runInProcess } from '../../support/command-line.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

async function clusterFolder(t: TestContext, text: string) {
  const { path } = await temporaryFolder(t);
  const folder = join(path, 'config', 'local');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'all.yaml'), text);
  return { path, file: join(folder, 'all.yaml') };
}

test('config show says of every setting where it comes from', async (t) => {
  const { path, file } = await clusterFolder(t, 'topology.stmgrs: 3\nmy.secret: hunter2\n');
  const flag = ['--config-property', 'topology.debug=true'];
  const variables = { HERON_SHUTDOWN_GRACE_MS: '7000' };
  const { code, stdout, stderr } = await runInProcess(path, ['config', 'show', ...flag], variables);
  assert.equal(code, 0);
  assert.equal(stderr, '');
  const lines = stdout.split('\n').map((line) => line.split(/ {2,}/));
  assert.deepEqual(lines[0], ['SETTING', 'VALUE', 'FROM']);
  const of = (key: string) => lines.find(([first]) => first === key)?.slice(1);
  assert.deepEqual(of('topology.stmgrs'), ['3', `${file}:1`]);
  assert.deepEqual(of('topology.debug'), ['true', '--config-property']);
  assert.deepEqual(of('heron.shutdown.grace.ms'), [
    '7000 ms',
    'environment variable HERON_SHUTDOWN_GRACE_MS',
  ]);
  assert.deepEqual(of('topology.container.ram'), ['-', 'default']);
  assert.deepEqual(of('my.secret'), ['(redacted)', `${file}:2`]);
});

test('config show --json is for programs, --changed leaves the defaults out', async (t) => {
  const { path, file } = await clusterFolder(t, 'topology.stmgrs: 3\ntopology.stmgr: 4\n');
  const args = ['config', 'show', 'local', '--json', '--changed'];
  const { code, stdout } = await runInProcess(path, args);
  assert.deepEqual(
    [code, JSON.parse(stdout)],
    [
      0,
      {
        cluster: 'local',
        settings: [
          { key: 'topology.stmgrs', value: 3, unit: 'count', origin: `${file}:1` },
          { key: 'topology.stmgr', value: '4', unit: null, origin: `${file}:2` },
        ],
        warnings: [
          `${file}:2: there is no setting 'topology.stmgr'; did you mean 'topology.stmgrs'?`,
        ],
      },
    ],
  );
});

test('a wrong value is refused with file, line and key: 1', async (t) => {
  const { path, file } = await clusterFolder(t, '# ours\ntopology.stmgrs: three\n');
  const module = join(import.meta.dirname, '../../cluster/cli/fixtures/topologies/short.ts');
  for (const args of [
    ['config', 'show'],
    ['submit', 'local', module, 'words'],
  ]) {
    const { code, stdout } = await runInProcess(path, [...args, '--json']);
    const { error } = JSON.parse(stdout) as { readonly error: Readonly<Record<string, string>> };
    assert.deepEqual([code, error['code']], [1, 'INVALID_CONFIG']);
    assert.ok(
      error['message']?.includes(
        `${file}:2: topology.stmgrs: expected a whole number from 1 to 100000, got 'three'`,
      ),
    );
  }
});

test('a cluster that is not there is refused: 1', async (t) => {
  const { path } = await temporaryFolder(t);
  const { code, stderr } = await runInProcess(path, ['config', 'show', 'lokal']);
  assert.equal(code, 1);
  assert.match(stderr, /there is no cluster 'lokal'/);
});

test('config alone shows how it is written', async (t) => {
  const { path } = await temporaryFolder(t);
  const { code, stderr } = await runInProcess(path, ['config']);
  assert.equal(code, 1);
  assert.match(stderr, /show/);
});

test('a topology gets the settings of its cluster, its environment and its flags', async (t) => {
  const { path } = await clusterFolder(t, 'topology.stmgrs: 2\ntopology.container.ram: 1\n');
  const module = join(import.meta.dirname, '../../cluster/cli/fixtures/topologies/short.ts');
  const submit = ['submit', 'local', module, 'words', '--dry-run', '--json'];
  const variables = { HERON_TOPOLOGY_CONTAINER_RAM: String(16 * 1024 ** 3) };
  const containersBy = async (...flags: readonly string[]): Promise<number> => {
    const { stdout } = await runInProcess(path, [...submit, ...flags], variables);
    return (JSON.parse(stdout) as { readonly containers: readonly object[] }).containers.length;
  };
  assert.equal(await containersBy(), 2);
  assert.equal(await containersBy('--config-property', 'topology.stmgrs=1'), 1);
});
