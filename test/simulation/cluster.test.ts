import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { containerId, taskId } from '../../src/base/ids.ts';
import { SimulatedRun } from '../support/simulated-run.ts';
import { simulatedWordCount } from '../support/simulated-word-count.ts';

/* What happens to a simulated cluster from outside: deaths, pauses, commands. */

const NOTHING = { processes: [], stateNodes: [], files: [] };

function endless(): SimulatedRun {
  return new SimulatedRun(simulatedWordCount({ isEndless: true }));
}

suite('deaths', () => {
  const MORTALS = [
    'heron-tmanager',
    'heron-metricscache',
    'stmgr-1',
    'metricsmgr-2',
    'container_1_words_1',
    'container_2_count_4',
    'executor-0',
    'executor-1',
  ];
  for (const name of MORTALS) {
    test(`${name} is killed, comes back, and the count goes on`, async () => {
      const run = endless();
      const { cluster } = run;
      await run.untilCounted(50);
      const before = cluster.process(name);
      assert.ok(cluster.kill(name));
      assert.equal(before?.state, 'ended');
      await run.until(() => cluster.process(name)?.object !== undefined);
      assert.notEqual(cluster.process(name)?.pid, before.pid);
      await run.advance(1000);
      await run.untilCounted(50);
      assert.equal(cluster.exits()[0]?.signal, 'SIGKILL');
      const deaths = cluster.exits().filter((exit) => exit.name === name);
      assert.equal(deaths.length, 1);
    });
  }

  test('the scheduler is killed: the count goes on, and a command brings it back', async () => {
    const run = endless();
    const { cluster } = run;
    await run.untilCounted(50);
    cluster.kill('scheduler');
    await run.advance(60_000);
    assert.equal(cluster.process('scheduler'), undefined);
    await run.untilCounted(50);
    const executors = [0, 1, 2].map((id) => cluster.process(`executor-${id}`)?.pid);
    assert.equal(await run.settled(cluster.command.repair()), 'restarted');
    assert.ok(cluster.process('scheduler') !== undefined);
    assert.deepEqual(
      [0, 1, 2].map((id) => cluster.process(`executor-${id}`)?.pid),
      executors,
    );
  });

  test('a bounded input completes after an instance died, and says so', async () => {
    const words = simulatedWordCount({ rounds: 20_000 });
    const run = new SimulatedRun(words);
    await run.untilCounted(50);
    run.cluster.kill('container_2_words_2');
    await run.until(() => run.cluster.isGone);
    const completion = run.cluster.completion();
    assert.equal(completion?.result, 'completed-with-losses');
    assert.deepEqual(
      completion.incidents.map(({ process }) => process),
      ['container_2_words_2'],
    );
    assert.deepEqual(run.cluster.leftovers(), NOTHING);
  });

  test('a second master waits while the first lives, and then takes its place', async () => {
    const run = endless();
    const { cluster, kernel } = run;
    await run.untilCounted(50);
    assert.ok(cluster.startDuplicate('heron-tmanager'));
    await run.advance(5000);
    assert.match(kernel.log.text, /heron-tmanager-duplicate WARN waiting to serve/);
    cluster.kill('heron-tmanager');
    await run.advance(5000);
    assert.match(kernel.log.text, /heron-tmanager-duplicate the topology master serves/);
    await run.untilCounted(50);
    await run.settled(cluster.command.kill());
    assert.deepEqual(cluster.leftovers(), NOTHING);
  });

  test('user code that hangs past the grace time is killed with its process', async () => {
    const run = endless();
    const { cluster } = run;
    await run.untilCounted(50);
    const name = 'container_2_count_4';
    cluster.threadOf(taskId(4))?.spend(Number.POSITIVE_INFINITY);
    await run.advance(10_000);
    assert.ok(cluster.process(name) !== undefined);
    const restarted = cluster.command.restart(containerId(2));
    await run.until(() => cluster.exits().some((exit) => exit.name === name));
    assert.equal(cluster.exits().find((exit) => exit.name === name)?.signal, 'SIGKILL');
    // By its own gateway, before its executor loses its patience.
    assert.doesNotMatch(run.kernel.log.text, /ignores SIGTERM/);
    await run.settled(restarted);
    await run.untilCounted(50);
  });
});

test('containers on hosts of their own find each other', async () => {
  const words = simulatedWordCount({ rounds: 100 });
  const run = new SimulatedRun(words, { hosts: ['10.0.0.1', '10.0.0.2', '10.0.0.3'] });
  await run.until(() => run.cluster.plan() !== undefined);
  const hosts = run.cluster.plan()?.streamManagers.map(({ host }) => host);
  assert.deepEqual(hosts, ['10.0.0.2', '10.0.0.3']);
  await run.until(() => run.cluster.isGone);
  assert.equal(run.cluster.completion()?.result, 'completed');
  assert.equal(words.counted(), 1800);
});

suite('pauses', () => {
  for (const name of ['stmgr-2', 'heron-tmanager', 'container_1_count_3', 'executor-1']) {
    test(`${name} stands still for a second and goes on`, async () => {
      const run = endless();
      const { cluster } = run;
      await run.untilCounted(50);
      const pid = cluster.process(name)?.pid;
      cluster.pause(name);
      assert.equal(cluster.process(name)?.state, 'paused');
      await run.advance(1000);
      cluster.resume(name);
      await run.advance(1000);
      await run.untilCounted(50);
      assert.equal(cluster.process(name)?.pid, pid);
      assert.deepEqual(cluster.exits(), []);
    });
  }
});

suite('commands', () => {
  test('deactivate stops the spouts, activate lets them go on', async () => {
    const run = endless();
    const { cluster, words } = run;
    await run.untilCounted(50);
    await run.settled(cluster.command.deactivate());
    assert.equal(cluster.plan()?.topology.state, 'PAUSED');
    await run.advance(1000);
    const counted = words.counted();
    await run.advance(10_000);
    assert.equal(words.counted(), counted);
    await run.settled(cluster.command.activate());
    assert.equal(cluster.plan()?.topology.state, 'RUNNING');
    await run.untilCounted(50);
  });

  test('a topology that is submitted inactive waits for its activation', async () => {
    const words = simulatedWordCount({ isEndless: true });
    const run = new SimulatedRun(words, { submit: { activate: false } });
    const { cluster } = run;
    await run.until(() => cluster.plan() !== undefined);
    await run.advance(5000);
    assert.equal(words.counted(), 0);
    await run.settled(cluster.command.activate());
    await run.untilCounted(50);
  });

  test('kill leaves nothing, not even a record', async () => {
    const run = endless();
    const { cluster } = run;
    await run.untilCounted(50);
    await run.settled(cluster.command.kill());
    assert.ok(cluster.isGone);
    assert.deepEqual(cluster.leftovers(), NOTHING);
    assert.equal(cluster.completion(), undefined);
  });

  test('kill in the middle of the start leaves nothing', async () => {
    const run = endless();
    await run.settled(run.submitted);
    await run.settled(run.cluster.command.kill());
    assert.deepEqual(run.cluster.leftovers(), NOTHING);
  });

  test('restart replaces the processes of one container, and of no other', async () => {
    const run = endless();
    const { cluster } = run;
    await run.untilCounted(50);
    const pids = (): ReadonlyMap<string, number> =>
      new Map(cluster.processes().map(({ name, pid }) => [name, pid]));
    const before = pids();
    await run.settled(cluster.command.restart(containerId(2)));
    await run.advance(1000);
    await run.untilCounted(50);
    const changed = [...pids()].filter(([name, pid]) => before.get(name) !== pid);
    assert.deepEqual(changed.map(([name]) => name).toSorted(), [
      'container_2_count_4',
      'container_2_words_2',
      'executor-2',
      'metricsmgr-2',
      'stmgr-2',
    ]);
  });

  test('a command whose process is killed rejects', async () => {
    const run = endless();
    run.cluster.machine.processes.find(({ name }) => name === 'heron submit')?.signal('SIGKILL');
    await assert.rejects(run.settled(run.submitted), { code: 'PROCESS_LOST' });
  });
});

suite('a quick start', () => {
  const quick = (): SimulatedRun =>
    new SimulatedRun(simulatedWordCount({ isEndless: true }), { quickStart: true });

  for (const name of ['heron-tmanager', 'stmgr-2', 'container_1_words_1']) {
    test(`${name} is killed and back at once, every time`, async () => {
      const run = quick();
      const { cluster } = run;
      await run.untilCounted(50);
      for (let death = 1; death <= 5; death++) {
        cluster.kill(name);
        await run.advance(100);
        assert.ok(cluster.process(name)?.object !== undefined);
      }
      await run.advance(2000);
      await run.untilCounted(50);
      assert.equal(cluster.exits().length, 5);
    });
  }

  test('activate and deactivate work as ever', async () => {
    const run = quick();
    await run.untilCounted(50);
    await run.settled(run.cluster.command.deactivate());
    assert.equal(run.cluster.plan()?.topology.state, 'PAUSED');
    await run.settled(run.cluster.command.activate());
    await run.untilCounted(50);
  });

  test('kill leaves nothing', async () => {
    const run = quick();
    await run.untilCounted(50);
    await run.settled(run.cluster.command.kill());
    await run.advance(100);
    assert.ok(run.cluster.isGone);
    assert.deepEqual(run.cluster.leftovers(), NOTHING);
  });

  test('there is no container to restart', async () => {
    const run = quick();
    await run.untilCounted(50);
    await assert.rejects(run.settled(run.cluster.command.restart()), {
      code: 'TOPOLOGY_NOT_FOUND',
    });
  });
});
