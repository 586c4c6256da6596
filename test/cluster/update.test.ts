import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { topologyName } from '../../src/base/ids.ts';
import { PlanIndex } from '../../src/model/plan-index.ts';
import { paths } from '../../src/state-manager/paths.ts';
import { decodePackingPlan } from '../../src/wire/packing-plan.ts';
import { aCluster, type Cluster, PATIENTLY } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { countsOf } from './fixtures/topologies/corpus.ts';

/*
  `heron update` under load, with real processes: tasks and containers come and go, what stays keeps
  its processes, and the counts at the end are exact, at most once.
*/

const NAME = 'updated-words';
const LINES = [60_000, 60_000];
/** On a machine that is busy with other tests. */
const PATIENT = ['--timeout', '240'] as const;

interface Answer {
  readonly state?: string;
  readonly changed?: boolean;
  readonly changes?: readonly object[];
}

class UpdatedWords {
  readonly cluster: Cluster;
  readonly folder: string;
  readonly run: ReturnType<Cluster['beginRun']>;

  static async begin(t: TestContext): Promise<UpdatedWords> {
    const cluster = await aCluster(t);
    const folder = join(cluster.folder, 'words');
    await mkdir(folder);
    const run = cluster.beginRun(NAME, NAME, { args: [folder, ...LINES] });
    const words = new UpdatedWords(cluster, folder, run);
    const isUp = eventually(() => assert.ok(words.claims().length === 2), PATIENTLY);
    const hasEnded = run.end.then((end) => assert.fail(`it ended: ${end.stdout}${end.stderr}`));
    await Promise.race([isUp, hasEnded]);
    return words;
  }

  private constructor(cluster: Cluster, folder: string, run: ReturnType<Cluster['beginRun']>) {
    this.cluster = cluster;
    this.folder = folder;
    this.run = run;
  }

  /** The shares of the input that are being read. */
  claims(): readonly string[] {
    return globSync('claim-*', { cwd: this.folder });
  }

  async update(...args: readonly string[]): Promise<Answer> {
    const command = ['--json', ...PATIENT, 'local', NAME, ...args];
    const { code, stdout, stderr } = await this.cluster.heron('update', ...command);
    assert.equal(code, 0, `heron update ${args.join(' ')}: ${stdout}${stderr}`);
    return JSON.parse(stdout) as Answer;
  }

  /** Pids by name, of instances and stream managers. */
  pids(): ReadonlyMap<string, number> {
    const found = this.cluster.processes().filter(({ name }) => /^(stmgr-|container_)/.test(name));
    return new Map(found.map(({ name, pid }) => [name, pid]));
  }

  async sizes() {
    const plan = new PlanIndex(await this.cluster.physicalPlan(NAME));
    const tasks = plan.plan.topology.components.map(
      ({ name }) => [name, plan.tasksOf(name).length] as const,
    );
    const containers = plan.plan.streamManagers.length;
    return { ...Object.fromEntries(tasks), containers, retiring: plan.retiring.length };
  }

  /** Lets the input come to its end; the sum of what all reporting tasks have written. */
  async finish(): Promise<Readonly<Record<string, number>>> {
    writeFileSync(join(this.folder, 'gate'), '');
    const { code, stdout, stderr } = await this.run.end;
    assert.equal(code, 0, stdout + stderr);
    const sum: Record<string, number> = {};
    for (const file of globSync(`${this.cluster.resultFile(NAME)}.*`)) {
      const counts = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, number>>;
      for (const [word, count] of Object.entries(counts)) sum[word] = (sum[word] ?? 0) + count;
    }
    return sum;
  }
}

/** Every process that both have is the same one. */
function assertUntouched(before: ReadonlyMap<string, number>, after: ReadonlyMap<string, number>) {
  for (const [name, pid] of before) {
    if (after.has(name)) assert.equal(after.get(name), pid, `${name} is another process`);
  }
}

test('word count: 2 → 4 → 2 bolts and containers under load, exact at most once', async (t) => {
  const words = await UpdatedWords.begin(t);
  const steps: readonly (readonly [string, readonly string[], object])[] = [
    ['4 counting bolts', ['--component-parallelism', 'count:4'], { count: 4 }],
    ['2 again', ['--component-parallelism', 'count:2'], { count: 2 }],
    ['4 containers', ['--container-number', '4'], { containers: 4 }],
    ['2 again', ['--container-number', '2'], { containers: 2 }],
  ];
  for (const [name, args, expected] of steps) {
    await t.test(name, async () => {
      const before = words.pids();
      const answer = await words.update(...args);
      assert.equal(answer.state, 'UPDATED');
      const sizes = await words.sizes();
      assert.deepEqual(sizes, { ...sizes, ...expected, lines: 2, report: 1, retiring: 0 });
      const { instances, streamManagers } = await words.cluster.physicalPlan(NAME);
      const planned = [...instances, ...streamManagers].map(({ id }) => String(id)).toSorted();
      const after = await eventually(() => {
        const found = words.pids();
        assert.deepEqual([...found.keys()].toSorted(), planned);
        return found;
      }, PATIENTLY);
      assertUntouched(before, after);
    });
  }

  await t.test('a setting that a component sees', async () => {
    await words.update('--runtime-config', 'mood:good', '--runtime-config', 'split:pace:fast');
    await eventually(() => {
      const seen = globSync('mood-*', { cwd: words.folder }).map((file) =>
        readFileSync(join(words.folder, file), 'utf8'),
      );
      assert.equal(seen.filter((text) => text === 'good fast').length, 2);
    }, PATIENTLY);
  });

  await t.test('a command that is killed in the middle, and the same one again', async () => {
    const args = [...PATIENT, 'local', NAME, '--component-parallelism', 'count:3'];
    const { child, end } = words.cluster.begin('update', ...args);
    const epochBefore = await storedEpoch(words.cluster);
    await eventually(async () => (await storedEpoch(words.cluster)) > epochBefore, PATIENTLY);
    child.kill('SIGKILL');
    await end;
    const before = words.pids();
    await words.update('--component-parallelism', 'count:3');
    assertUntouched(before, words.pids());
    const sizes = await words.sizes();
    assert.deepEqual(sizes, { ...sizes, count: 3, retiring: 0 });
  });

  assert.deepEqual(await words.finish(), countsOf(LINES));
});

async function storedEpoch({ stateManager }: Cluster): Promise<number> {
  const bytes = await stateManager.read(paths.packingPlan(topologyName(NAME)));
  return bytes === undefined ? 0 : (decodePackingPlan(bytes).epoch ?? 0);
}
