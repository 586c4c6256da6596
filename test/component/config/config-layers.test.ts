import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import {
  layerConflicts,
  moduleWarnings,
  readConfigLayers,
} from '../../../src/config/config-layers.ts';
import { describeSettings } from '../../../src/config/describe-settings.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { aTopology } from '../../support/topologies.ts';

interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly variables?: NodeJS.ProcessEnv;
  readonly properties?: Readonly<Record<string, string>>;
}

async function read(t: TestContext, { files = {}, variables = {}, properties = {} }: Given) {
  const { path: configRoot } = await temporaryFolder(t);
  const folder = join(configRoot, 'local');
  await mkdir(folder);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const sources = { configRoot, cluster: 'local', variables };
  const layers = () =>
    readConfigLayers({ ...sources, properties: new Map(Object.entries(properties)) });
  return { folder, layers };
}

test('files are read in the order of their names, and only those that are YAML', async (t) => {
  const files = {
    'b.yaml': 'topology.stmgrs: 2\nwords.file: b.txt',
    'a.yml': 'topology.stmgrs: 1\ntopology.debug: true',
    '.hidden.yaml': 'topology.stmgrs: 8',
    'notes.txt': 'topology.stmgrs: 9',
  };
  const { folder, layers } = await read(t, { files });
  const { below, above, entries } = await layers();
  assert.deepEqual(Object.fromEntries(below), {
    'topology.stmgrs': '2',
    'topology.debug': 'true',
    'words.file': 'b.txt',
  });
  assert.equal(above.size, 0);
  assert.deepEqual(entries.get('topology.stmgrs'), {
    text: '2',
    origin: `${join(folder, 'b.yaml')}:1`,
  });
});

test('flags win over the environment, and both stand above the files', async (t) => {
  const { layers } = await read(t, {
    files: { 'all.yaml': 'topology.stmgrs: 2\nheron.shutdown.grace.ms: 1' },
    variables: { HERON_TOPOLOGY_STMGRS: '3', HERON_SHUTDOWN_GRACE_MS: '2' },
    properties: { 'topology.stmgrs': '4', 'words.file': 'a.txt' },
  });
  const { below, above, entries } = await layers();
  assert.equal(below.get('topology.stmgrs'), '2');
  assert.deepEqual(Object.fromEntries(above), {
    'topology.stmgrs': '4',
    'heron.shutdown.grace.ms': '2',
    'words.file': 'a.txt',
  });
  assert.equal(entries.get('topology.stmgrs')?.origin, '--config-property');
});

test('a cluster without a folder has no settings', async (t) => {
  const { layers } = await read(t, {});
  assert.equal((await layers()).entries.size, 0);
  const sources = { configRoot: '/nowhere', variables: {}, properties: new Map() };
  assert.equal((await readConfigLayers({ ...sources, cluster: 'local' })).entries.size, 0);
});

test('all problems of all layers are told at once, each with its place', async (t) => {
  const { folder, layers } = await read(t, {
    files: { 'a.yaml': 'topology.debug: 1\n', 'b.yaml': '\n\ntopology.stmgrs: many\n: [' },
    variables: { HERON_TOPOLOGY_DEBUG: 'maybe' },
    properties: { 'topology.component.output.bps': '3' },
  });
  await assert.rejects(layers, (error: Error & { code: string }) => {
    assert.equal(error.code, 'INVALID_CONFIG');
    const lines = error.message.split('\n  - ');
    assert.equal(lines[0], 'the settings are not valid: 4 problems:');
    assert.match(lines[1] ?? '', new RegExp(`^${join(folder, 'b.yaml')}:4: `));
    assert.equal(
      lines[2],
      `${join(folder, 'a.yaml')}:1: topology.debug: expected 'true' or 'false', got '1'`,
    );
    assert.match(lines[3] ?? '', /^environment variable HERON_TOPOLOGY_DEBUG: topology\.debug: /);
    assert.match(lines[4] ?? '', /^--config-property: topology\.component\.output\.bps of Heron/);
    return true;
  });
});

test('a file that cannot be read is a problem, not nothing', async (t) => {
  const { folder, layers } = await read(t, {});
  await mkdir(join(folder, 'folder.yaml'));
  await assert.rejects(layers, /INVALID_CONFIG|folder\.yaml: EISDIR/);
});

test('what is passed over is told once, with its place', async (t) => {
  const { folder, layers } = await read(t, {
    files: { 'a.yaml': 'topology.stmgr: 3\nmy.own: 1' },
    properties: { 'topology.kryo.register': 'x' },
  });
  const read1 = await layers();
  assert.deepEqual(read1.warnings, [
    `${join(folder, 'a.yaml')}:1: there is no setting 'topology.stmgr'; ` +
      "did you mean 'topology.stmgrs'?",
    '--config-property: topology.kryo.register of Heron has no meaning here: ' +
      'there is no Java virtual machine; it is passed over',
  ]);
  const topology = {
    ...aTopology(),
    config: new Map([
      ['topology.stmgr', '3'],
      ['topology.debag', 'true'],
    ]),
  };
  assert.deepEqual(moduleWarnings(topology, read1), [
    "there is no setting 'topology.debag'; did you mean 'topology.debug'?",
  ]);
});

test('what contradicts itself is shown with both places', async (t) => {
  const { folder, layers } = await read(t, {
    files: { 'a.yaml': 'topology.message.timeout.secs: 60' },
    properties: { 'topology.enable.message.timeouts': 'false' },
  });
  assert.deepEqual(layerConflicts(await layers()), [
    'topology.message.timeout.secs: a time-out of 60 s cannot hold while ' +
      'topology.enable.message.timeouts is false; remove one of the two ' +
      `(topology.message.timeout.secs by ${join(folder, 'a.yaml')}:1, ` +
      'topology.enable.message.timeouts by --config-property)',
  ]);
});

test('each setting is described with its value, its type and its place', async (t) => {
  const { folder, layers } = await read(t, {
    files: { 'a.yaml': 'topology.component.cpumap: { count: 1.5 }\nz.password: x\na.own: 0017' },
    variables: { HERON_TOPOLOGY_DEBUG: 'TRUE' },
  });
  const described = describeSettings(await layers());
  const of = (key: string) => described.find((one) => one.key === key);
  const file = join(folder, 'a.yaml');
  assert.deepEqual(of('topology.component.cpumap'), {
    key: 'topology.component.cpumap',
    value: { count: 1.5 },
    unit: 'cores',
    origin: `${file}:1`,
  });
  assert.equal(of('topology.debug')?.value, true);
  assert.equal(of('topology.container.ram')?.value, null);
  assert.deepEqual(of('heron.shutdown.grace.ms'), {
    key: 'heron.shutdown.grace.ms',
    value: 5000,
    unit: 'ms',
    origin: 'default',
  });
  assert.deepEqual(described.slice(-2), [
    { key: 'a.own', value: '0017', unit: null, origin: `${file}:3` },
    { key: 'z.password', value: '(redacted)', unit: null, origin: `${file}:2` },
  ]);
});
