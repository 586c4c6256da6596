import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseInstanceIdentity } from '../../../src/instance/instance-identity.ts';

const FLAGS: Readonly<Record<string, string>> = {
  'topology-name': 'words',
  'topology-id': 'words-1',
  cluster: 'local',
  role: 'me',
  environ: 'dev',
  host: '127.0.0.2',
  'container-id': '2',
  state: 'file:///state',
  'definition-file': 'words.defn',
  'log-directory': 'log-files',
  'instance-id': 'container_2_count_7',
  'component-name': 'count',
  'task-id': '7',
  'component-index': '0',
  'stream-manager-id': 'stmgr-2',
  'stream-manager-port': '7001',
  'metrics-manager-port': '7002',
};

function parse(change: Readonly<Record<string, string>> = {}) {
  const flags = Object.entries({ ...FLAGS, ...change }).filter(([, value]) => value !== 'absent');
  return parseInstanceIdentity(flags.map(([name, value]) => `--${name}=${value}`));
}

describe('the command line of an instance', () => {
  it('says who it is and where its partners are', () => {
    assert.deepEqual(parse(), {
      topologyName: 'words',
      topologyId: 'words-1',
      instance: 'container_2_count_7',
      component: 'count',
      task: 7,
      componentIndex: 0,
      container: 2,
      host: '127.0.0.2',
      streamManager: 'stmgr-2',
      streamManagerPort: 7_001,
      metricsManagerPort: 7_002,
      definitionFile: 'words.defn',
      logDirectory: 'log-files',
    });
  });

  const wrong: readonly [name: string, value: string, message: RegExp][] = [
    ['task-id', 'absent', /--task-id is missing/],
    ['task-id', '', /--task-id is missing/],
    ['task-id', '0', /--task-id: expected a whole number from 1 to 2147483647, got '0'/],
    ['task-id', '1.5', /--task-id: expected a whole number/],
    ['component-index', '-1', /--component-index: expected a whole number from 0/],
    ['stream-manager-port', '65536', /--stream-manager-port: expected .* from 1 to 65535/],
    ['host', 'absent', /--host is missing/],
    ['colour', 'blue', /'--colour'/],
  ];
  for (const [name, value, message] of wrong) {
    it(`is refused with --${name}=${value}`, () => {
      assert.throws(() => parse({ [name]: value }), { code: 'INVALID_ARGUMENT', message });
    });
  }
});
