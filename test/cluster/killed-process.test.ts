import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { aCluster, type Cluster, PATIENTLY } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { RunningWordCount } from '../support/running-word-count.ts';

/*
  Any one process is killed while words are counted. Under at most once a process that carries data
  may take some with it: then the run says so, and names the process. Whatever was killed, the run
  ends by itself and leaves nothing.
*/

const COMPLETED = 0;
const WITH_LOSSES = 106;

/** Kills a process, and waits until another one has taken its name. */
async function killAndReplace(cluster: Cluster, name: string): Promise<void> {
  const killed = await cluster.killProcess(name);
  await eventually(async () => {
    const { pid } = await cluster.process(name);
    assert.notEqual(pid, killed.pid, `${name} has not been started again`);
  }, PATIENTLY);
}

/** Victims, and the process that the record of the run has to name. */
const CARRIERS = [
  { victim: 'container_1_lines_1', named: 'container_1_lines_1' },
  { victim: 'container_2_split_4', named: 'container_2_split_4' },
  { victim: 'container_1_count_5', named: 'container_1_count_5' },
  { victim: 'container_1_report_7', named: 'container_1_report_7' },
  { victim: 'stmgr-1', named: 'stmgr-1' },
  { victim: 'executor-2', named: 'stmgr-2' },
];

async function losesAndSaysSo(t: TestContext, victim: string, named: string): Promise<void> {
  const cluster = await aCluster(t);
  const words = await RunningWordCount.begin(cluster);
  await killAndReplace(cluster, victim);
  await words.goOn();
  const { command, completion } = await words.end();
  assert.equal(command.code, WITH_LOSSES, command.stdout + command.stderr);
  assert.equal(completion.result, 'completed-with-losses');
  assert.ok(
    completion.incidents.some(({ process }) => process === named),
    JSON.stringify(completion.incidents),
  );
  assert.match(command.stdout, new RegExp(`${named} `));
}

test('a killed process that carries data', { concurrency: 3 }, async (t) => {
  await Promise.all(
    CARRIERS.map(({ victim, named }) =>
      t.test(`kill -9 of ${victim}: the run ends by itself and names ${named}`, (subtest) =>
        losesAndSaysSo(subtest, victim, named),
      ),
    ),
  );
});

test('kill -9 of metrics manager, master and executor 0: every word is counted', async (t) => {
  const cluster = await aCluster(t);
  const words = await RunningWordCount.begin(cluster);
  for (const name of ['metricsmgr-1', 'heron-tmanager', 'executor-0']) {
    await killAndReplace(cluster, name);
  }
  await words.goOn();
  const { command, completion } = await words.end();
  assert.equal(command.code, COMPLETED, command.stdout + command.stderr);
  assert.deepEqual(completion.incidents, []);
  await words.assertCountsAreRight();
});

test('kill -9 of an instance whose task has ended: its input is not counted again', async (t) => {
  const cluster = await aCluster(t);
  const words = await RunningWordCount.begin(cluster, { lines: [20_000, 100] });
  const ended = 'container_2_lines_2';
  await eventually(async () => {
    const log = await cluster.log('word-count', 2, 'heron-stmgr-2.log');
    assert.match(log, /a task has ended/);
  }, PATIENTLY);
  await killAndReplace(cluster, ended);
  await eventually(async () => {
    const log = await cluster.log('word-count', 2, `${ended}.gateway.log`);
    assert.match(log, /the task had ended before this process was started/);
  }, PATIENTLY);
  await words.goOn();
  const { completion } = await words.end();
  assert.deepEqual(
    completion.incidents.map(({ process }) => process),
    [ended],
  );
  await words.assertCountsAreRight();
});

test('kill -9 of the local scheduler: heron run goes on and every word is counted', async (t) => {
  const cluster = await aCluster(t);
  const words = await RunningWordCount.begin(cluster);
  await cluster.killProcess('scheduler');
  await words.goOn();
  const { command } = await words.end();
  assert.equal(command.code, COMPLETED, command.stdout + command.stderr);
  await words.assertCountsAreRight();
});

test('kill -9 of heron run: the topology goes on and every word is counted', async (t) => {
  const cluster = await aCluster(t);
  const words = await RunningWordCount.begin(cluster);
  words.command.child.kill('SIGKILL');
  await words.goOn();
  const { command, completion } = await words.end();
  assert.equal(command.code, null);
  assert.equal(completion.result, 'completed');
  await words.assertCountsAreRight();
});
