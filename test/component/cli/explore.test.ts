import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import {
  containerId,
  epoch,
  instanceIdOf,
  streamManagerIdOf,
  taskId,
  topologyName,
} from '../../../src/base/ids.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { encodePhysicalPlan } from '../../../src/wire/physical-plan.ts';
import { encodeExecutionState } from '../../../src/wire/execution-state.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { runInProcess } from '../../support/command-line.ts';
import { scriptedTracker, type TrackerAnswer } from '../../support/scripted-tracker.ts';
import { writeNodes } from '../../support/state-nodes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { anAddress } from '../../support/placements.ts';
import { aBolt, aSpout, aTopology } from '../../support/topologies.ts';

/* `heron explore` through Trackers with the shapes of Heron's, and over a state store. */

const PLANS: Readonly<Record<string, object>> = {
  '/clusters': ['local', 'zk'],
  '/topologies': { local: { me: { dev: ['words', 'other'] }, you: { dev: ['yours'] } } },
  '/topologies/logicalplan': {
    stages: 2,
    spouts: {
      word: { config: {}, spout_type: 'default', outputs: [{ stream_name: 'default' }] },
    },
    bolts: {
      count: {
        outputs: [],
        inputs: [{ stream_name: 'default', component_name: 'word', grouping: 'FIELDS' }],
        inputComponents: ['word'],
      },
    },
  },
  '/topologies/physicalplan': {
    instances: {
      container_1_word_1: { id: 'container_1_word_1', name: 'word', stmgr_id: 'stmgr-1' },
      container_1_count_2: { id: 'container_1_count_2', name: 'count', stmgrId: 'stmgr-1' },
      container_2_count_3: { id: 'container_2_count_3', name: 'count', stmgr_id: 'stmgr-2' },
    },
    stmgrs: {
      'stmgr-2': { id: 'stmgr-2', host: '127.0.0.2', port: 22, shell_port: null, pid: 222 },
      'stmgr-1': { id: 'stmgr-1', host: '127.0.0.1', port: 11, shell_port: 9, pid: 111 },
    },
    spouts: { word: ['container_1_word_1'] },
    bolts: { count: ['container_1_count_2', 'container_2_count_3'] },
  },
  '/topologies/metrics': {
    interval: -1,
    component: 'count',
    metrics: {
      '__execute-count/word/default': { container_1_count_2: '10', container_2_count_3: '30' },
      // Heron's instances keep the same by stream alone, too.
      '__execute-count/default': { container_1_count_2: '10', container_2_count_3: '30' },
      '__execute-latency/word/default': { container_1_count_2: '2000000.5', x: 'nan' },
      '__jvm-memory-used-mb': { container_1_count_2: '64' },
    },
  },
};

/** Heron's older Trackers. */
const ENVELOPED = Object.fromEntries(
  Object.entries(PLANS).map(([path, result]) => [
    path,
    { status: 'success', executiontime: 0.1, message: '', version: 'x', result },
  ]),
);

async function explore(url: string, ...words: readonly string[]) {
  const args = ['explore', ...words, '--tracker-url', url];
  const { code, stdout } = await runInProcess('/nowhere', [...args, '--json']);
  return { code, value: JSON.parse(stdout) as Record<string, unknown> };
}

for (const [which, answers] of [
  ['a Tracker', PLANS],
  ["one of Heron's older ones", ENVELOPED],
] as const) {
  describe(`through ${which}`, () => {
    test('clusters and topologies of a place', async (t) => {
      const { url } = await scriptedTracker(t, answers);
      assert.deepEqual((await explore(url, 'clusters')).value, { clusters: ['local', 'zk'] });
      const { value } = await explore(url, 'topologies', 'local/me');
      const place = { cluster: 'local', role: 'me', environ: 'dev' };
      assert.deepEqual(value, {
        topologies: [
          { ...place, name: 'words' },
          { ...place, name: 'other' },
        ],
      });
    });

    test('the logical plan, and parts of it', async (t) => {
      const { url } = await scriptedTracker(t, answers);
      const word = {
        type: 'spout',
        name: 'word',
        parallelism: 1,
        inputs: [],
        streams: ['default'],
      };
      const inputs = [{ component: 'word', stream: 'default' }];
      const count = { type: 'bolt', name: 'count', parallelism: 2, inputs, streams: [] };
      const spouts = { ...word, readers: ['count'] };
      const bolts = { ...count, readers: [] };
      for (const [type, components] of [
        ['all', [spouts, bolts]],
        ['spouts', [spouts]],
        ['bolts', [bolts]],
      ] as const) {
        const plan = ['logical-plan', 'local', 'words', '--component-type', type];
        assert.deepEqual((await explore(url, ...plan)).value, { name: 'words', components });
      }
    });

    test('containers, and one of them', async (t) => {
      const { url } = await scriptedTracker(t, answers);
      const containers = ['physical-plan', 'containers', 'local/me/dev', 'words'];
      const second = {
        id: 2,
        host: '127.0.0.2',
        port: 22,
        pid: 222,
        instances: ['container_2_count_3'],
        spouts: 0,
        bolts: 1,
      };
      const { value } = await explore(url, ...containers);
      const [first, other] = value['containers'] as readonly Record<string, unknown>[];
      assert.deepEqual([first?.['id'], first?.['spouts'], first?.['bolts']], [1, 1, 1]);
      assert.deepEqual(other, second);
      const one = await explore(url, ...containers, '--id', '2');
      assert.deepEqual(one.value, { name: 'words', containers: [second] });
      assert.equal((await explore(url, ...containers, '--id', '3')).code, 1);
    });

    test('metrics count once what is kept twice', async (t) => {
      const { url, asked } = await scriptedTracker(t, answers);
      const plan = ['physical-plan', 'metrics', 'local', 'words', '--component', 'count'];
      const { value } = await explore(url, ...plan);
      const [one, two] = value['metrics'] as readonly Record<string, unknown>[];
      assert.deepEqual(
        [one?.['instance'], one?.['executed'], one?.['executeMs'], one?.['memoryMb']],
        ['container_1_count_2', 10, 2.0000005, 64],
      );
      assert.deepEqual([two?.['executed'], two?.['executeMs'], two?.['emitted']], [30, null, null]);
      const question = asked.find((path) => path.startsWith('/topologies/metrics')) ?? '';
      const query = new URLSearchParams(question.split('?')[1]);
      assert.equal(query.get('environ'), 'dev');
      assert.ok(query.getAll('metricname').includes('__execute-count/word/default'));
    });
  });
}

test('tables are those of heron-explorer', async (t) => {
  const { url } = await scriptedTracker(t, PLANS);
  const shown = async (...words: readonly string[]): Promise<string> => {
    const { code, stdout } = await runInProcess('/nowhere', [
      'explore',
      ...words,
      '--tracker-url',
      url,
    ]);
    assert.equal(code, 0);
    return stdout.replaceAll(/ +/g, ' ');
  };
  assert.equal(
    await shown('logical-plan', 'local', 'words'),
    'TYPE NAME PARALLELISM INPUT OUTPUT\nspout word 1 - count\nbolt count 2 word -\n',
  );
  assert.equal(
    await shown('physical-plan', 'containers', 'local', 'words'),
    'CONTAINER HOST PORT PID #BOLT #SPOUT\n1 127.0.0.1 11 111 1 1\n2 127.0.0.2 22 222 1 0\n',
  );
  assert.equal(
    await shown('physical-plan', 'metrics', 'local', 'words', '--component', 'count'),
    [
      'count',
      'INSTANCE EXECUTED EXECUTE (MS) MEMORY (MB)',
      'container_1_count_2 10 2.000 64',
      'container_2_count_3 30 - -',
      '',
    ].join('\n'),
  );
});

describe('a Tracker that is of no use', () => {
  const failure = async (t: TestContext, answers: Readonly<Record<string, TrackerAnswer>>) => {
    const { url } = await scriptedTracker(t, answers);
    const { code, value } = await explore(url, 'logical-plan', 'local', 'word');
    const { message, next } = value['error'] as { readonly message: string; readonly next: string };
    assert.ok(next.length > 0);
    return { code, message };
  };

  test('knows no such topology: 101, with what was meant', async (t) => {
    const { code, message } = await failure(t, PLANS);
    assert.equal(code, 101);
    assert.match(message, /knows no topology 'word' in local; did you mean 'words'\?/);
  });

  for (const [what, answer, expected] of [
    ['refuses', { status: 500, body: '"request failed: x"' }, /refused .*: request failed: x/],
    ['is none', { status: 200, body: '<html>' }, /is no Tracker: it is no JSON/],
    ['answers something else', { local: ['words'] }, /something else than the roles/],
  ] as const) {
    test(`${what}: 100`, async (t) => {
      const { code, message } = await failure(t, { '/topologies': answer });
      assert.equal(code, 100);
      assert.match(message, expected);
    });
  }

  test('is not there: 100', async () => {
    const { code, value } = await explore('http://127.0.0.1:9', 'clusters');
    assert.equal(code, 100);
    assert.match(
      JSON.stringify(value),
      /no answer from the Tracker at .*'heron tracker' starts one/,
    );
  });

  test('has an address that is none: 1', async () => {
    assert.equal((await explore('localhost', 'clusters')).code, 1);
  });
});

describe('over a state store', () => {
  const WORDS = topologyName('words');
  const topology = aTopology([
    aSpout('word', { parallelism: 1 }),
    aBolt('count', ['word'], { parallelism: 2 }),
  ]);
  const definition = { [paths.topology(WORDS)]: encodeTopology(topology) };
  const run = async (dataRoot: string, ...words: readonly string[]) => {
    const { code, stdout } = await runInProcess(dataRoot, ['explore', ...words, '--json']);
    return { code, value: JSON.parse(stdout) as Record<string, unknown> };
  };

  test('clusters are those with settings', async (t) => {
    const { path } = await temporaryFolder(t);
    assert.deepEqual((await run(path, 'clusters')).value, { clusters: ['local'] });
  });

  test('topologies are found by their place', async (t) => {
    const path = await writeNodes(t, {
      ...definition,
      [paths.executionState(WORDS)]: encodeExecutionState({
        topologyName: WORDS,
        topologyId: topology.id,
        cluster: 'local',
        role: 'tester',
        environ: 'dev',
        submittedBy: 'tester',
        submittedAtSeconds: 1,
        engineVersion: '0.0.0',
      }),
    });
    const found = [{ cluster: 'local', role: 'tester', environ: 'dev', name: 'words' }];
    const { value } = await run(path, 'topologies', 'local/tester');
    assert.deepEqual(value, { topologies: found });
    assert.deepEqual((await run(path, 'topologies', 'local/you')).value, { topologies: [] });
    assert.equal((await run(path, 'logical-plan', 'local/you', 'words')).code, 101);
  });

  test('without a physical plan the definition tells', async (t) => {
    const path = await writeNodes(t, definition);
    const { value } = await run(path, 'logical-plan', 'local', 'words');
    const [word, count] = value['components'] as readonly Record<string, unknown>[];
    assert.deepEqual([word?.['parallelism'], word?.['readers']], [1, ['count']]);
    assert.deepEqual(count?.['parallelism'], 2);
    assert.equal((await run(path, 'physical-plan', 'containers', 'local', 'words')).code, 100);
    assert.equal((await run(path, 'physical-plan', 'metrics', 'local', 'words')).code, 100);
  });

  test('a physical plan tells where everything is', async (t) => {
    const one = containerId(1);
    const plan = {
      epoch: epoch(1),
      topology,
      streamManagers: [{ ...anAddress(one), host: '127.0.0.1', dataPort: 11, pid: 111 }],
      instances: topology.components.map(({ name: component }, index) => ({
        id: instanceIdOf(one, component, taskId(index + 1)),
        streamManager: streamManagerIdOf(one),
        task: taskId(index + 1),
        componentIndex: 0,
        component,
      })),
    };
    const path = await writeNodes(t, {
      ...definition,
      [paths.physicalPlan(WORDS)]: encodePhysicalPlan(plan),
    });
    const { value } = await run(path, 'physical-plan', 'containers', 'local', 'words');
    assert.deepEqual(value['containers'], [
      {
        id: 1,
        host: '127.0.0.1',
        port: 11,
        pid: 111,
        spouts: 1,
        bolts: 1,
        instances: ['container_1_word_1', 'container_1_count_2'],
      },
    ]);
    const logical = await run(path, 'logical-plan', 'local', 'words', '--component-type', 'bolts');
    const [count] = logical.value['components'] as readonly Record<string, unknown>[];
    assert.equal(count?.['parallelism'], 1, 'as many as run');
  });
});
