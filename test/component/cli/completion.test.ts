import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { SHELLS, completionScript } from '../../../src/cli/completion/scripts.ts';
import { encodeContainerReport } from '../../../src/model/container-report.ts';
import { containerId, topologyName } from '../../../src/base/ids.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { encodeExecutionState } from '../../../src/wire/execution-state.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { runInProcess } from '../../support/command-line.ts';
import { writeNodes } from '../../support/state-nodes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { aTopology } from '../../support/topologies.ts';

/* What a shell offers at Tab. */

const run = promisify(execFile);
const WORDS = topologyName('words');

async function offered(dataRoot: string, ...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout } = await runInProcess(dataRoot, ['complete', '--', ...words]);
  assert.equal(code, 0);
  return stdout.split('\n').filter((line) => line !== '');
}

function runningTopology(t: TestContext): Promise<string> {
  const topology = aTopology();
  const process = {
    name: 'stmgr-1',
    pid: 1,
    state: 'running',
    restarts: 0,
    startedAtMs: 1,
  } as const;
  const id = containerId(1);
  const report = { containerId: id, host: 'here', pid: 1, startedAtMs: 1, processes: [process] };
  return writeNodes(t, {
    [paths.topology(WORDS)]: encodeTopology(topology),
    [paths.executionState(WORDS)]: encodeExecutionState({
      topologyName: WORDS,
      topologyId: topology.id,
      cluster: 'local',
      role: 'tester',
      environ: 'dev',
      submittedAtSeconds: 1,
      submittedBy: 'tester',
      engineVersion: '0.0.0',
    }),
    [paths.container(WORDS, id)]: encodeContainerReport(report),
  });
}

test('places, topologies and processes come from the state', async (t) => {
  const path = await runningTopology(t);
  assert.deepEqual(await offered(path, 'kill', ''), ['local', 'local/tester/dev']);
  assert.deepEqual(await offered(path, 'kill', 'local/tester/dev', 'w'), ['words']);
  assert.deepEqual(await offered(path, 'kill', 'local/tester/prod', ''), []);
  assert.deepEqual(await offered(path, 'restart', 'local', 'words', ''), ['1', 'stmgr-1']);
});

test('where nothing can be read nothing is offered, and nothing is said', async (t) => {
  const { path } = await temporaryFolder(t);
  for (const words of [
    ['kill', 'nowhere', ''],
    ['kill', 'local', ''],
    ['restart', 'local', '..', ''],
    ['submit', 'local', ''],
  ]) {
    assert.deepEqual(await offered(path, ...words), []);
  }
});

test('bash asks with the words up to the cursor', async () => {
  const stub = 'heron() { printf "%s\\n" "${@:3}" >&3; echo kill; echo "a b"; }';
  const line =
    'COMP_WORDS=(heron kill "" rest); COMP_CWORD=2; _heron; printf "<%s>" "${COMPREPLY[@]}"';
  const script = `exec 3>&1; ${stub}\n${completionScript('bash')}\n${line}; complete -p heron`;
  const { stdout } = await run('bash', ['--noprofile', '--norc', '-c', script]);
  assert.equal(stdout, 'kill\n\n<kill><a b>complete -o bashdefault -o default -F _heron heron\n');
});

test('each shell has its script, another one is refused with what there is', async (t) => {
  const { path } = await temporaryFolder(t);
  for (const shell of SHELLS) {
    const { code, stdout } = await runInProcess(path, ['completion', shell]);
    assert.equal(code, 0);
    assert.match(stdout, /heron complete -- /);
  }
  const { code, stderr } = await runInProcess(path, ['completion', 'csh']);
  assert.equal(code, 1);
  assert.match(stderr, /Allowed choices are bash, zsh, fish/);
});
