import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryFile } from '../../../../src/base/entry.ts';
import { containerId } from '../../../../src/base/ids.ts';
import { parseExecutorArguments } from '../../../../src/executor/executor-arguments.ts';
import { executorCommand, hostOf } from '../../../../src/scheduler/local/executor-command.ts';
import { schedulerArguments } from '../../../support/scheduler-arguments.ts';

const command = executorCommand(schedulerArguments(), containerId(3), 'a secret', {
  executable: '/bin/node',
  variables: { LANG: 'C', HERON_TOKEN: 'of another topology' },
});

test('an executor understands what the scheduler tells it', () => {
  const entry = command.arguments.indexOf(entryFile('executor/main'));
  const folder = '/data/topologies/local/ada/words/container-3';
  assert.deepEqual(parseExecutorArguments(command.arguments.slice(entry + 1)), {
    topologyName: 'words',
    topologyId: 'words-1234',
    cluster: 'local',
    role: 'ada',
    environ: 'dev',
    host: '127.0.0.2',
    containerId: 3,
    state: { kind: 'file', folder: '/state' },
    definitionFile: `${folder}/words.defn`,
    logDirectory: `${folder}/log-files`,
    workingDirectory: folder,
  });
});

test('the secret is in the environment, which others cannot see, not in the arguments', () => {
  assert.equal(command.environment['HERON_TOKEN'], 'a secret');
  assert.ok(command.arguments.every((argument) => !argument.includes('a secret')));
});

test('its own variables stand above those of its scheduler', () => {
  assert.deepEqual(command.environment, {
    NODE_COMPILE_CACHE: '/data/compile-cache',
    LANG: 'C',
    HERON_TOPOLOGY_ID: 'words-1234',
    HERON_TOKEN: 'a secret',
  });
  assert.equal(command.executable, '/bin/node');
});

test('containers get the hosts in turn', () => {
  const hosts = ['a', 'b', 'c'];
  const given = [0, 1, 2, 3, 4].map((container) => hostOf(hosts, containerId(container)));
  assert.deepEqual(given, ['a', 'b', 'c', 'a', 'b']);
});
