import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProcessRole } from '../../../src/executor/wanted-processes.ts';
import { createLauncher } from '../../../src/executor/launch-process.ts';
import { Settings } from '../../../src/model/settings.ts';
import type { Command } from '../../../src/supervision/process-table.ts';
import { executorArguments } from '../../support/executor-arguments.ts';
import { ScriptedProcessTable } from '../../support/scripted-process-table.ts';

/** What the executor would start a process of this role with. */
function commandOf(role: ProcessRole, variables: NodeJS.ProcessEnv): Command {
  const started: Command[] = [];
  class Recording extends ScriptedProcessTable {
    override startDependent(...[command]: [Command?]): never {
      if (command !== undefined) started.push(command);
      throw new Error('recorded');
    }
  }
  const launch = createLauncher({
    arguments: executorArguments(),
    settings: new Settings(),
    environment: {
      processes: new Recording(),
      executable: 'node',
      variables,
      openAppendFile: () => assert.fail('nothing is written'),
    },
  });
  const wanted = { name: 'x', role, entry: 'x/main', flags: [], heapLimitMb: undefined };
  assert.throws(() => launch(wanted), /recorded/);
  const [command] = started;
  assert.ok(command !== undefined);
  return command;
}

test('the credentials of the state store reach the engine, and no user code', () => {
  const variables = { HERON_STATE_DIGEST: 'ada:engine', OTHER: 'kept' };
  const roles = ['stream-manager', 'topology-master', 'metrics-manager', 'metrics-cache'] as const;
  for (const role of roles) {
    const { environment, arguments: args } = commandOf(role, variables);
    assert.equal(environment['HERON_STATE_DIGEST'], 'ada:engine', role);
    assert.ok(!args.join(' ').includes('engine'), role);
  }
  const { environment } = commandOf('instance', variables);
  assert.deepEqual([environment['HERON_STATE_DIGEST'], environment['OTHER']], [undefined, 'kept']);
});
