import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { describe, test, type TestContext } from 'node:test';
import { paths } from '../../../src/state-manager/paths.ts';
import { TopologyMasterLocation } from '../../../src/wire/messages.ts';
import type { PaperTopology } from '../../support/paper-topology.ts';
import { aPaper, TOPOLOGY, update } from '../../support/update-command.ts';

/* `heron update --runtime-config` with a master that does what Heron's does. */

describe('settings that change while the topology runs', () => {
  /** A master that stores what it is asked for, as Heron's does. */
  async function aMaster(t: TestContext, paper: PaperTopology): Promise<readonly string[]> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://here');
      asked.push(`${url.pathname} ${String(request.headers['x-heron-token'])}`);
      assert.equal(url.searchParams.get('topologyid'), TOPOLOGY.id);
      void store(url.searchParams.getAll('runtime-config')).then(() => response.end('done'));
    });
    async function store(changes: readonly string[]): Promise<void> {
      const plan = await paper.physicalPlan();
      const config = new Map(plan.topology.config);
      for (const change of changes) {
        const [value = '', key = ''] = change.split(':').toReversed();
        config.set(`${key}:runtime`, value);
      }
      await paper.writePlan({ ...plan, topology: { ...plan.topology, config } });
    }
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    const location = TopologyMasterLocation.create({
      topologyName: TOPOLOGY.name,
      topologyId: TOPOLOGY.id,
      host: '127.0.0.1',
      controllerPort: address.port,
      serverPort: 1,
      statsPort: 1,
    });
    await paper.stateManager.write(
      paths.topologyMaster(TOPOLOGY.name),
      TopologyMasterLocation.encode(location),
    );
    return asked;
  }

  test('the master is asked, with the token; repeated, nothing is to do', async (t) => {
    const paper = await aPaper(t);
    const asked = await aMaster(t, paper);
    const change = [
      '--runtime-config',
      'mood:good',
      '--runtime-config',
      'topology.max.spout.pending:7',
    ];
    const { code, stdout, stderr } = await update(paper, ...change);
    assert.equal(code, 0, stderr);
    assert.equal(
      stdout,
      'words was updated: mood (not set) → good, topology.max.spout.pending (not set) → 7\n',
    );
    assert.deepEqual(asked, ['/runtime_config/update secret']);
    const again = await update(paper, ...change);
    assert.match(again.stdout, /^words has this already: mood good → good/);
    assert.equal(asked.length, 1);
  });

  test('a dry run asks nobody', async (t) => {
    const paper = await aPaper(t);
    const { code, stdout } = await update(paper, '--runtime-config', 'mood:good', '--dry-run');
    assert.deepEqual([code, stdout], [0, 'words would change: mood (not set) → good\n']);
  });

  test('a change that is not there afterwards: 100', async (t) => {
    const paper = await aPaper(t);
    await aMaster(t, paper);
    const { code, stderr } = await update(paper, '--runtime-config', 'count:mood:good');
    assert.equal(code, 100);
    assert.match(stderr, /another command has changed mood of words in the same moment/);
  });
});
