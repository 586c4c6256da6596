import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { aCluster, PATIENTLY, UNHURRIED } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';
import { RunningPipeline } from '../../support/running-pipeline.ts';
import { type Call, type Choice, Switchboard } from '../../support/switchboard.ts';

/* Ways that are slow, and ways that swallow what they are given, with real processes. */

const SILENCE_MS = 2_000;
const CONFIG = { ...UNHURRIED, 'heron.streammgr.link.silence.ms': SILENCE_MS };
const SLOW_BY_MS = 150;

async function begin(t: TestContext) {
  // Ahead of the cluster, whose end may fail: a hook behind one that fails is not run.
  const board = await Switchboard.start(t);
  const cluster = await aCluster(t);
  Object.assign(cluster.environment, board.environment);
  const pipeline = await RunningPipeline.begin(cluster, { config: CONFIG });
  const { streamManagers } = await cluster.physicalPlan(pipeline.name);
  const ports = new Set(streamManagers.map(({ dataPort }) => dataPort));
  const betweenStreamManagers = ({ from, port }: Call): boolean =>
    from.startsWith('stmgr-') && ports.has(port);
  assert.ok(board.calls(betweenStreamManagers).length > 0, 'there is no link');
  return { board, pipeline, betweenStreamManagers };
}

test('slow ways between all processes: no line fails, none comes twice', async (t) => {
  const { board, pipeline } = await begin(t);
  try {
    const calls = board.calls();
    const before = pipeline.pids();
    board.delay(() => true, SLOW_BY_MS);
    await pipeline.goesOn();
    board.heal();
    await pipeline.goesOn();
    assert.deepEqual(board.calls(), calls, 'a way has been given up');
    assert.deepEqual(pipeline.pids(), before);
    const { recovered } = await pipeline.end();
    assert.deepEqual(recovered, []);
    assert.equal(pipeline.sunk.count, pipeline.written);
  } finally {
    pipeline.stopWriting();
  }
});

test('O35: ways that swallow everything are given up, and nothing is missing', async (t) => {
  const { board, pipeline, betweenStreamManagers } = await begin(t);
  const ways: readonly (readonly [string, Choice])[] = [
    ['two stream managers', betweenStreamManagers],
    ['a stream manager and a spout', ({ from }) => from === 'container_1_lines_1'],
    ['a stream manager and a bolt', ({ from }) => from === 'container_2_slow_4'],
  ];
  try {
    const before = pipeline.pids();
    for (const [name, choice] of ways) {
      await t.test(`between ${name}`, async () => {
        const [old] = board.calls(choice);
        assert.ok(old !== undefined);
        board.halfOpen((call) => call === old);
        await eventually(() => {
          const now = board.calls(choice);
          assert.ok(now.length > 0 && !now.includes(old), 'it has not been dialled anew');
        }, PATIENTLY);
        await pipeline.goesOn();
      });
    }
    assert.deepEqual(pipeline.pids(), before);
    await pipeline.end();
  } finally {
    pipeline.stopWriting();
  }
});
