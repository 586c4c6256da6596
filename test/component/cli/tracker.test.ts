import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/logger.ts';
import { createSystemRandom } from '../../../src/base/random.ts';
import type { CommandContext } from '../../../src/cli/command-context.ts';
import {
  openTrackedClusters,
  type TrackedChoice,
} from '../../../src/cli/tracker/tracked-clusters.ts';
import { runInProcess } from '../../support/command-line.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const NO_CHOICE: TrackedChoice = {
  configFile: undefined,
  type: undefined,
  name: undefined,
  rootpath: undefined,
  hostport: undefined,
};

/** What a Tracker would look at, with these files in the folder of the settings. */
async function chosen(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  choice: Partial<TrackedChoice> = {},
) {
  const { path } = await temporaryFolder(t);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(path, name, '..'), { recursive: true });
    await writeFile(join(path, name), text);
  }
  const context = {
    clock: systemClock,
    random: createSystemRandom(),
    logger: silentLogger,
    dataRoot: '/data',
    configRoot: path,
    variables: {},
  } as unknown as CommandContext;
  await using tracked = await openTrackedClusters({ ...NO_CHOICE, ...choice }, context);
  const { clusters, links } = tracked;
  const shown = clusters.map(({ name, address, following, problem }) =>
    problem === undefined ? `${name} ${address} ${following}` : `${name}: ${problem}`,
  );
  return { shown, links };
}

test('without a choice all known clusters are tracked, also one set up wrong', async (t) => {
  const { shown } = await chosen(t, {
    'prod/cluster.yaml': 'heron.statemgr.address: zookeeper://zk1,zk2:2182/heron',
    'wrong/cluster.yaml': 'heron.statemgr.address: nothing at all',
  });
  const [local, prod, wrong] = shown;
  assert.equal(local, 'local /data/repository/state/local looks');
  assert.equal(prod, 'prod zookeeper://zk1:2181,zk2:2182/heron watches');
  assert.match(wrong ?? '', /^wrong: .*cluster\.yaml:1.*heron\.statemgr\.address/);
});

const YAML = `
# A line that Heron's own file has.
statemgrs:
  - type: "file"
    name: local
    rootpath: "~/.herondata/repository/state/local"
    tunnelhost: localhost
  - type: zookeeper
    name: prod
    hostport: zk1:2181,zk2:2181
    rootpath: /heron
extra.links:
  - name: Logs
    formatter: https://logs/\${TOPOLOGY}
`;

test("Heron's file beside the settings says which, and adds links", async (t) => {
  const beside = await chosen(t, { 'heron_tracker.yaml': YAML });
  assert.equal(beside.shown.length, 2);
  assert.match(beside.shown[0] ?? '', /^local \/.*\.herondata\/repository\/state\/local looks$/);
  assert.equal(beside.shown[1], 'prod zookeeper://zk1:2181,zk2:2181/heron watches');
  assert.deepEqual(beside.links, [{ name: 'Logs', formatter: 'https://logs/${TOPOLOGY}' }]);
  const linksOnly = await chosen(t, { 'heron_tracker.yaml': 'extra.links: []' });
  assert.deepEqual(linksOnly.shown, ['local /data/repository/state/local looks']);
});

test('flags name one store, and win over a file', async (t) => {
  const { shown } = await chosen(
    t,
    { 'heron_tracker.yaml': YAML },
    { type: 'zookeeper', name: 'one', rootpath: '/heron', hostport: 'zk9:2181' },
  );
  assert.deepEqual(shown, ['one zookeeper://zk9:2181/heron watches']);
});

test('what cannot be meant is refused with what is wrong, and where', async (t) => {
  const { path } = await temporaryFolder(t);
  const refused = async (yaml: string | undefined, ...flags: readonly string[]) => {
    const file = join(path, 'tracker.yaml');
    if (yaml !== undefined) await writeFile(file, yaml);
    const given = yaml === undefined ? [] : ['--config-file', file];
    const { code, stderr } = await runInProcess(path, ['tracker', ...given, ...flags]);
    assert.notEqual(code, 0);
    return stderr;
  };
  assert.match(await refused(undefined, '--type', 'file'), /--rootpath is missing/);
  assert.match(await refused(undefined, '--rootpath', '/x'), /belong to --type/);
  assert.match(await refused(undefined, '--port', '70000'), /from 0 to 65535/);
  assert.match(await refused('statemgrs: [{type: ftp}]'), /tracker\.yaml: statemgrs\.0\.type/);
  assert.match(await refused('a: [', '--port', '0'), /tracker\.yaml: /);
  const entry = '{type: file, name: a, rootpath: /a}';
  const twice = `statemgrs: [${entry}, ${entry}]`;
  assert.match(await refused(twice), /have the name 'a'/);
  assert.match(await refused(undefined, '--config-file', join(path, 'gone.yaml')), /gone\.yaml/);
});
