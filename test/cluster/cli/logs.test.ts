import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { aCluster, type Cluster, PATIENTLY, THREE_CONTAINERS } from '../../support/cluster.ts';
import { packageRoot } from '../../../src/base/entry.ts';
import { COMPILE_CACHE } from '../../support/compile-cache.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/*
  `heron logs` of a topology whose containers are on several hosts. The command's own HERON_DATA is
  an empty folder, as on another machine: state and shells are all that it has.
*/

const NAME = 'talkers';
const LINES = 30_000;
/** A file holds a quarter of what one talker says, and all of them together all of it. */
const ROTATING = { 'heron.logging.maximum.size.mb': 2, 'heron.logging.maximum.files': 8 };

/** A process that has to wait between the two is late with its line, and nobody can know of it. */
const STAMPED_BUT_NOT_WRITTEN_MS = 1_000;

interface Line {
  readonly time: string;
  readonly process: string;
  readonly container: number;
  readonly message: string;
}

async function spreadCluster(t: TestContext): Promise<Cluster> {
  const { path: folder } = await temporaryFolder(t);
  const settings = [`heron.statemgr.address: file://${folder}`];
  const cluster = await aCluster(t, { name: 'spread', state: { kind: 'file', folder }, settings });
  await mkdir(join(cluster.folder, 'elsewhere'));
  return cluster;
}

/** As a command on another machine sees it. */
function fromElsewhere(cluster: Cluster, ...args: readonly string[]) {
  cluster.environment['HERON_DATA'] = join(cluster.folder, 'elsewhere');
  try {
    return cluster.begin('logs', ...args, cluster.place, NAME);
  } finally {
    delete cluster.environment['HERON_DATA'];
  }
}

/** The same, left running, with its standard output in a file. */
async function followFromElsewhere(cluster: Cluster, file: string) {
  const output = await open(file, 'w');
  const options = ['--follow', '--json', '--grep', '^said|ready to talk'];
  const command = [join(packageRoot(), 'bin', 'heron.mjs'), 'logs', ...options];
  const child = spawn(process.execPath, [...command, cluster.place, NAME], {
    stdio: ['ignore', output.fd, 'pipe'],
    env: {
      ...process.env,
      HERON_DATA: join(cluster.folder, 'elsewhere'),
      HERON_CONFIG: cluster.configRoot,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
    },
  });
  await output.close();
  let errors = '';
  child.stderr?.on('data', (data: Buffer) => {
    errors += data.toString();
  });
  const end = once(child, 'close').then(([code]) => code as number | null);
  return { end, stderr: () => errors };
}

function linesIn(text: string): readonly Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);
}

test('lines of containers elsewhere come through their shells, whole and in order', async (t) => {
  const cluster = await spreadCluster(t);
  const gate = join(cluster.folder, 'gate');
  await cluster.submit('talkers', NAME, {
    args: [gate, LINES],
    config: { ...THREE_CONTAINERS, ...ROTATING },
  });
  const heard = join(cluster.folder, 'heard');
  const follower = await followFromElsewhere(cluster, heard);
  const times = async (text: string): Promise<number> =>
    (await readFile(heard, 'utf8')).split(text).length - 1;
  await eventually(async () => assert.equal(await times('ready to talk'), 3), PATIENTLY);
  await writeFile(gate, '');
  await eventually(async () => assert.equal(await times(`said ${LINES - 1}"`), 3), PATIENTLY);

  await t.test('the last lines, and filters', async () => {
    const tail = ['--json', '--tail', '5', '--component', 'talkers', '--grep', 'said'];
    const lines = linesIn((await fromElsewhere(cluster, ...tail).end).stdout);
    assert.equal(lines.length, 5);
    assert.ok(lines.some(({ message }) => message === `said ${LINES - 1}`));
    const one = ['--json', '--container', '2', '--process', 'stmgr-2'];
    const ofOne = linesIn((await fromElsewhere(cluster, ...one).end).stdout);
    assert.ok(ofOne.length > 0);
    assert.ok(ofOne.every(({ process }) => process === 'stmgr-2'));
    const none = await fromElsewhere(cluster, '--since', '1s', '--until', '1h').end;
    assert.deepEqual([none.code, none.stdout], [0, '']);
  });

  await cluster.kill(NAME);
  assert.equal(await follower.end, 0);
  const all = linesIn(await readFile(heard, 'utf8'));
  const said = all.filter(({ message }) => message.startsWith('said'));
  const byTask = Map.groupBy(said, ({ process }) => process);
  assert.deepEqual(new Set(said.map(({ container }) => container)), new Set([1, 2, 3]));
  assert.equal(byTask.size, 3);
  for (const lines of byTask.values()) {
    assert.equal(lines.length, LINES);
    assert.ok(lines.every(({ message }, n) => message === `said ${n}`));
  }
  let latestMs = 0;
  for (const { time } of said) {
    latestMs = Math.max(latestMs, Date.parse(time));
    assert.ok(latestMs - Date.parse(time) <= STAMPED_BUT_NOT_WRITTEN_MS, 'in the order of time');
  }
  assert.doesNotMatch(follower.stderr(), /rotated away/);
});
