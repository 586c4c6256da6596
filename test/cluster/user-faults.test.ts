import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { aCluster, type CommandEnd, PATIENTLY } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { moduleFolder } from '../support/module-folder.ts';

/* Faults of user code, seen through the real command: the cause stands there word for word. */

const INVOCATION = 1;
const TOPOLOGY_FAILED = 103;

/** One error that says what and why, one next step, and no stack of ours. */
function assertOneMessage({ stderr }: CommandEnd): void {
  const lines = stderr.trimEnd().split('\n');
  assert.equal(lines.filter((line) => line.startsWith('error: ')).length, 1, stderr);
  assert.equal(lines.filter((line) => line.startsWith('Next: ')).length, 1, stderr);
  assert.doesNotMatch(stderr, /src\/cli\//);
}

const MODULES = [
  {
    fault: 'that is missing',
    file: 'missing.ts',
    code: INVOCATION,
    says: [/there is no topology module .*missing\.ts/],
  },
  {
    fault: 'without a topology',
    file: 'empty.ts',
    code: TOPOLOGY_FAILED,
    says: [/empty\.ts/, /topology/],
  },
  {
    fault: 'that throws',
    file: 'throws.ts',
    code: TOPOLOGY_FAILED,
    says: [/cause in the module/, /throws\.ts:2/],
  },
  {
    fault: 'that ends the process',
    file: 'exits.ts',
    code: TOPOLOGY_FAILED,
    says: [/exits\.ts called process\.exit\(3\) while it was loaded/],
  },
];

const TEXTS = {
  'empty.ts': 'export const nothing = 1;\n',
  'throws.ts': "const cause: string = 'cause in the module';\nthrow new Error(cause);\n",
  'exits.ts': 'process.exit(3);\n',
};

test('faulty modules', { concurrency: 2 }, async (t) => {
  const folder = await moduleFolder(t, TEXTS);
  await Promise.all(
    MODULES.map(({ fault, file, code, says }) =>
      t.test(`O41: a module ${fault} is refused and leaves nothing`, async (subtest) => {
        const cluster = await aCluster(subtest);
        const end = await cluster.trySubmit(join(folder, file), 'faulty');
        assert.equal(end.code, code, end.stderr);
        assertOneMessage(end);
        for (const words of says) assert.match(end.stderr, words);
      }),
    ),
  );
});

const STARTS = [
  {
    method: 'constructor',
    where: /new Numbers \(.*faulty\.ts:\d+:\d+\)/,
    says: /factory of component 'numbers' failed: cause in the constructor/,
  },
  {
    method: 'open',
    where: /Numbers\.open \(.*faulty\.ts:\d+:\d+\)/,
    says: /open of 'numbers' \(task 1\) failed: cause in open/,
  },
  {
    method: 'prepare',
    where: /Plain\.prepare \(.*faulty\.ts:\d+:\d+\)/,
    says: /prepare of 'plain' \(task 2\) failed: cause in prepare/,
  },
];

test('components that cannot start', { concurrency: 3 }, async (t) => {
  await Promise.all(
    STARTS.map(({ method, says, where }) =>
      t.test(`O41: submit tells what ${method} has thrown, and leaves nothing`, async (subtest) => {
        const cluster = await aCluster(subtest);
        const end = await cluster.trySubmit('faulty', 'faulty', { args: [method, 'no gate'] });
        assert.equal(end.code, TOPOLOGY_FAILED, end.stderr);
        assertOneMessage(end);
        assert.match(end.stderr, says);
        assert.match(end.stderr, where);
      }),
    ),
  );
});

/** What `heron status` shows of a process that has died. */
const DEATHS = [
  {
    process: 'container_1_plain_2',
    code: 70,
    reason:
      /execute of 'plain' \(task 2\) failed on the tuple \[ 3 \] of .*: cause in a plain bolt/,
    lines: /Plain\.execute \(.*faulty\.ts:\d+:\d+\)/,
  },
  {
    process: 'container_1_exiting_5',
    code: 7,
    reason: /process\.exit\(7\)/,
    lines: /process\.exit\(7\)/,
  },
  {
    process: 'container_1_rejecting_6',
    code: 70,
    reason: /cause nobody waits for/,
    lines: /Rejecting\.execute \(.*faulty\.ts:\d+:\d+\)/,
  },
];

test('O36, O41: status and logs tell what running components do wrong', async (t) => {
  const cluster = await aCluster(t);
  const gate = join(cluster.folder, 'gate');
  await cluster.submit('faulty', 'faulty', {
    args: ['none', gate],
    config: {
      'heron.metrics.export.interval.ms': 200,
      'heron.instance.blocked.task.ms': 500,
      'heron.shutdown.grace.ms': 1000,
    },
  });
  await writeFile(gate, '');
  for (const { process, code, reason, lines } of DEATHS) {
    await t.test(`O41: ${process} has died, and status says of what`, async () => {
      const { lastExit, restarts } = await eventually(async () => {
        const found = await cluster.statusOf('faulty', process);
        assert.ok(found.restarts > 0, `${process} has not been started again`);
        return found;
      }, PATIENTLY);
      assert.ok(restarts > 0);
      assert.equal(lastExit?.code, code);
      assert.match(lastExit.reason, reason);
      assert.match(lastExit.lastLines.join('\n'), lines);
    });
  }
  await t.test('O36: status names the component that hangs, and where', async () => {
    const blocked = await eventually(async () => {
      const { errors } = await cluster.status('faulty');
      // On a busy machine others may block for a while, too.
      const found = errors.blocked.find(({ component }) => component === 'hanging');
      assert.ok(found !== undefined, JSON.stringify(errors));
      return found;
    }, PATIENTLY);
    assert.equal(blocked.instance, 'container_1_hanging_4');
    assert.match(blocked.stack, /neverReturns.*faulty\.ts:\d+/);
  });
  await t.test('a basic bolt goes on after a failure, which status shows', async () => {
    const shown = await eventually(async () => {
      const { errors } = await cluster.status('faulty');
      const found = errors.exceptions.find(({ component }) => component === 'basic');
      assert.ok(found !== undefined, JSON.stringify(errors));
      return found;
    }, PATIENTLY);
    assert.match(shown.stack, /cause in a basic bolt/);
    const { state, restarts } = await cluster.statusOf('faulty', 'container_1_basic_3');
    assert.deepEqual({ state, restarts }, { state: 'running', restarts: 0 });
  });
  await t.test('O41: logs have every cause word for word', async () => {
    const { stdout } = await cluster.logs('faulty');
    for (const cause of ['a plain bolt', 'a basic bolt', 'nobody waits for']) {
      assert.match(stdout, new RegExp(`cause (in )?${cause}`));
    }
  });
  await cluster.kill('faulty');
});
