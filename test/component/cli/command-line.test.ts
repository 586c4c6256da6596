import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { topologyId, topologyName } from '../../../src/base/ids.ts';
import type { Completion } from '../../../src/model/completion.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { runInProcess } from '../../support/command-line.ts';
import { STATE, writeNodes } from '../../support/state-nodes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { aTopology } from '../../support/topologies.ts';

/* Exit codes and JSON of every command over what it may find; what runs is in test/cluster/cli. */

const HERE = 'local/tester/dev';
const WORDS = topologyName('words');
const MODULE = join(import.meta.dirname, '../../cluster/cli/fixtures/topologies/short.ts');
const ON_A_TOPOLOGY = ['status', 'kill', 'activate', 'deactivate', 'restart', 'logs'];

interface JsonError {
  readonly code: string;
  readonly domain: string;
  readonly message: string;
  readonly next: string;
}

async function errorOf(dataRoot: string, ...args: readonly string[]) {
  const { code, stdout } = await runInProcess(dataRoot, [...args, '--json']);
  const { error } = JSON.parse(stdout) as { readonly error: JsonError };
  assert.ok(error.message.length > 0 && error.next.length > 0);
  return { exit: code, code: error.code, message: error.message };
}

describe('a topology that is not there', () => {
  for (const command of ON_A_TOPOLOGY) {
    test(`${command} says so: 101`, async (t) => {
      const { path } = await temporaryFolder(t);
      const { exit, code } = await errorOf(path, command, HERE, WORDS);
      assert.deepEqual([exit, code], [101, 'TOPOLOGY_NOT_FOUND']);
    });
  }

  test('kill --if-exists is content: 0', async (t) => {
    const { path } = await temporaryFolder(t);
    const args = ['kill', HERE, WORDS, '--if-exists', '--json'];
    const { code, stdout } = await runInProcess(path, args);
    const { state } = JSON.parse(stdout) as { readonly state: string };
    assert.deepEqual([code, state], [0, 'ABSENT']);
  });

  test('list is empty: 0', async (t) => {
    const { path } = await temporaryFolder(t);
    const { code, stdout } = await runInProcess(path, ['list', HERE, '--json']);
    assert.deepEqual([code, JSON.parse(stdout)], [0, { topologies: [] }]);
  });
});

describe('a topology that is half dead', () => {
  const halfDead = (t: TestContext): Promise<string> =>
    writeNodes(t, { [paths.topology(WORDS)]: encodeTopology(aTopology()) });

  for (const command of ['activate', 'deactivate', 'restart']) {
    test(`${command} refuses: 100`, async (t) => {
      const { exit, code } = await errorOf(await halfDead(t), command, HERE, WORDS);
      assert.deepEqual([exit, code], [100, 'TOPOLOGY_NOT_READY']);
    });
  }

  test('logs has none: 100', async (t) => {
    const { exit, code } = await errorOf(await halfDead(t), 'logs', HERE, WORDS);
    assert.deepEqual([exit, code], [100, 'FILE_FAILED']);
  });

  test('status and list show it: 0', async (t) => {
    const path = await halfDead(t);
    const status = await runInProcess(path, ['status', HERE, WORDS, '--json']);
    const { state } = JSON.parse(status.stdout) as { readonly state: string };
    assert.deepEqual([status.code, state], [0, 'HALF_DEAD']);
    const list = await runInProcess(path, ['list', 'local']);
    assert.match(list.stdout, /^words\s+HALF_DEAD\s/m);
  });

  test('kill removes it: 0', async (t) => {
    const path = await halfDead(t);
    assert.equal((await runInProcess(path, ['kill', HERE, WORDS])).code, 0);
    assert.equal((await runInProcess(path, ['status', HERE, WORDS])).code, 101);
  });
});

describe('a topology whose records are damaged', () => {
  const damaged = (t: TestContext): Promise<string> =>
    writeNodes(t, { [paths.topology(WORDS)]: Buffer.from('?'), 'pplans/words': Buffer.from('!') });

  test('status names what cannot be read: 0', async (t) => {
    const { code, stdout } = await runInProcess(await damaged(t), ['status', HERE, WORDS]);
    assert.equal(code, 0);
    assert.match(stdout, /^words DAMAGED/);
    assert.match(stdout, /the node topologies\/words is damaged: /);
  });

  test('kill removes it: 0', async (t) => {
    const path = await damaged(t);
    const { code, stderr } = await runInProcess(path, ['kill', HERE, WORDS]);
    assert.equal(code, 0, stderr);
    assert.equal((await runInProcess(path, ['status', HERE, WORDS])).code, 101);
  });
});

test('O42: status says in what a record is not fit to run: 0', async (t) => {
  const [spout, ...bolts] = aTopology().components;
  const unfit = { ...aTopology(), components: bolts, config: new Map([['topology.stmgrs', 'x']]) };
  const path = await writeNodes(t, { [paths.topology(WORDS)]: encodeTopology(unfit) });
  const { code, stdout } = await runInProcess(path, ['status', HERE, WORDS, '--json']);
  const { state, damage } = JSON.parse(stdout) as { state: string; damage: readonly string[] };
  assert.deepEqual([code, state], [0, 'DAMAGED']);
  assert.match(
    damage[0] ?? '',
    /^the node topologies\/words is damaged: topology\.stmgrs: expected/,
  );
  assert.ok(damage.some((text) => text.includes(`reads '${spout?.name}', but there is no such`)));
});

describe('a state store that is down', () => {
  const commands = [
    ['submit', HERE, MODULE, WORDS],
    ['run', HERE, MODULE, WORDS],
    ['list', HERE],
    ...ON_A_TOPOLOGY.map((command) => [command, HERE, WORDS]),
  ];
  for (const command of commands) {
    test(`${command[0]} says where: 104`, async (t) => {
      const { path } = await temporaryFolder(t);
      await mkdir(join(path, 'repository', 'state'), { recursive: true });
      await writeFile(join(path, STATE), 'a file where the folder should be');
      const { exit, message } = await errorOf(path, ...command);
      assert.equal(exit, 104, message);
      assert.ok(message.includes(join(path, STATE)), message);
    });
  }
});

describe('a dry run', () => {
  const DRY_RUN = ['submit', HERE, MODULE, WORDS, '--dry-run'];

  test('says what would run where, and leaves nothing: 0', async (t) => {
    const { path } = await temporaryFolder(t);
    const { code, stdout, stderr } = await runInProcess(path, DRY_RUN);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^words would run in local\/tester\/dev: 2 tasks in 1 container, by /);
    const files = (await readdir(path, { recursive: true })).filter((file) => file !== 'tmp');
    assert.deepEqual(files, []);
  });

  test('needs no state store: 0', async (t) => {
    const { path } = await temporaryFolder(t);
    await mkdir(join(path, 'repository', 'state'), { recursive: true });
    await writeFile(join(path, STATE), 'a file where the folder should be');
    const args = [...DRY_RUN, '--deploy-deactivated', '--json'];
    const { code, stdout } = await runInProcess(path, args);
    const { dryRun, initialState } = JSON.parse(stdout) as {
      readonly dryRun: boolean;
      readonly initialState: string;
    };
    assert.deepEqual([code, dryRun, initialState], [0, true, 'PAUSED']);
  });

  test('is what --dry-run-format asks for, as Heron writes it too', async (t) => {
    const { path } = await temporaryFolder(t);
    const args = ['submit', HERE, MODULE, WORDS, '--dry-run-format', 'colored_table'];
    const { code, stdout } = await runInProcess(path, args);
    assert.equal(code, 0);
    assert.match(stripVTControlCharacters(stdout), /nothing was started/);
    assert.notEqual(stripVTControlCharacters(stdout), stdout);
  });
});

describe('the doctor', () => {
  interface Found {
    readonly healthy: boolean;
    readonly checks: readonly { readonly name: string; readonly verdict: string }[];
  }

  test('finds what it looks for, and leaves nothing: 0', async (t) => {
    const { path } = await temporaryFolder(t);
    const { code, stdout } = await runInProcess(path, ['doctor', '--json']);
    const { healthy, checks } = JSON.parse(stdout) as Found;
    assert.deepEqual([code, healthy], [0, true], stdout);
    assert.deepEqual(
      checks.map(({ name }) => name),
      ['node', 'settings', 'disk', 'clock', 'state', 'ports', 'scheduler'],
    );
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    assert.deepEqual(
      entries.filter((entry) => entry.isFile()).map(({ name }) => name),
      [],
    );
  });

  test('names the state store that is down, and what to do: 100', async (t) => {
    const { path } = await temporaryFolder(t);
    await mkdir(join(path, 'repository', 'state'), { recursive: true });
    await writeFile(join(path, STATE), 'a file where the folder should be');
    const { code, stdout } = await runInProcess(path, ['doctor']);
    assert.equal(code, 100);
    assert.match(stdout, /^fail {2}state: .*repository\/state\/local.*\n {6}Next: check the /m);
    assert.match(stdout, /^ok {4}ports: /m);
  });

  test('sees what no scheduler stands behind, and changes nothing: 0', async (t) => {
    const path = await writeNodes(t, { [paths.topology(WORDS)]: encodeTopology(aTopology()) });
    const { code, stdout } = await runInProcess(path, ['doctor', 'local']);
    assert.equal(code, 0);
    assert.match(stdout, /^warn {2}scheduler: no scheduler lives of words$/m);
    const status = await runInProcess(path, ['status', 'local', WORDS, '--json']);
    assert.match(status.stdout, /"state":"HALF_DEAD"/);
  });
});

describe('a command line that is wrong', () => {
  const wrong: readonly (readonly [readonly string[], RegExp])[] = [
    [['sumbit'], /unknown command 'sumbit' \(Did you mean submit\?\)/],
    [['kill', HERE], /missing required argument 'topology'/],
    [['kill', 'lokal/me/dev', 'words'], /no cluster 'lokal'; there is 'local'/],
    [['kill', 'local/../dev', 'words'], /'\.\.', which cannot be a name/],
    [['kill', 'local/a/b/c', 'words'], /is not of this form/],
    [['kill', HERE, '../words'], /must have 1 to 128 letters/],
    [['submit', HERE, 'none.ts', 'words'], /there is no topology module .*none\.ts/],
    [['submit', HERE, MODULE, 'words', '--config-property', 'x'], /It is written key=value/],
    [
      ['submit', HERE, MODULE, 'words', '--config-property', 'topology.stmgrs=none'],
      /topology\.stmgrs: expected a whole number/,
    ],
    [['submit', HERE, MODULE, 'words', '--timeout', '0'], /A whole number from 1/],
    [
      ['submit', HERE, MODULE, 'words', '--dry-run-format', 'xml'],
      /Allowed choices are table, colored-table, json, raw/,
    ],
    [['logs', HERE, 'words', '--level', 'loud'], /Allowed choices are debug, info, warn, error/],
    [['help', 'kil'], /there is no command 'kil'; did you mean 'kill'\?/],
  ];
  for (const [args, expected] of wrong) {
    test(`${args.join(' ').slice(-60)}: 1`, async (t) => {
      const { path } = await temporaryFolder(t);
      const json = await errorOf(path, ...args);
      assert.equal(json.exit, 1, json.message);
      assert.match(json.message, expected);
      const human = await runInProcess(path, args);
      assert.deepEqual([human.code, human.stdout], [1, '']);
      assert.match(human.stderr.replaceAll('\n', ' '), expected);
    });
  }
});

describe('errors for people', () => {
  test('one line, the next step, and no stack', async (t) => {
    const { path } = await temporaryFolder(t);
    const { stderr } = await runInProcess(path, ['status', HERE, 'words']);
    assert.match(stderr, /^error: there is no topology 'words' in local\/tester\/dev\nNext: .+\n$/);
  });

  test('the stack with --verbose', async (t) => {
    const { path } = await temporaryFolder(t);
    const { stderr } = await runInProcess(path, ['status', HERE, 'words', '--verbose']);
    assert.match(stderr, /^ +at .*topology-record\.ts/m);
  });
});

describe('version and help', () => {
  for (const args of [['version'], ['help'], ['help', 'kill'], ['kill', '--help']]) {
    test(`${args.join(' ')}: text, and one JSON value with --json`, async (t) => {
      const { path } = await temporaryFolder(t);
      const human = await runInProcess(path, args);
      assert.equal(human.code, 0);
      assert.match(human.stdout, /^(heron-ts \d|Usage: heron )/);
      const json = await runInProcess(path, [...args, '--json']);
      assert.equal(json.code, 0);
      assert.equal(typeof JSON.parse(json.stdout), 'object');
    });
  }
});

test('--version is understood as the command', async (t) => {
  const { path } = await temporaryFolder(t);
  const { code, stdout } = await runInProcess(path, ['--version', '--json']);
  assert.equal(code, 0);
  assert.match((JSON.parse(stdout) as { readonly version: string }).version, /^\d+\.\d+\.\d+/);
});

test('a data root where no folder can be made is said, not waited for: 104', async () => {
  const { exit, code } = await errorOf('/proc/nope', 'submit', HERE, MODULE, WORDS);
  assert.deepEqual([exit, code], [104, 'STATE_NOT_WRITABLE']);
});

describe('logs of a component', () => {
  const completed = async (t: TestContext): Promise<string> => {
    const id = topologyId('words-1');
    const completion: Completion = {
      topologyId: id,
      completedAtMs: 1,
      result: 'completed',
      incidents: [],
      recovered: [],
    };
    const path = await writeNodes(t, {
      [paths.completed(WORDS)]: Buffer.from(JSON.stringify(completion)),
    });
    const folder = join(path, 'logs', id, 'container-1');
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'container_1_count_3.out'), 'counted\n');
    return path;
  };

  test('are printed', async (t) => {
    const args = ['logs', HERE, WORDS, '--component', 'count'];
    const { code, stdout } = await runInProcess(await completed(t), args);
    assert.equal(code, 0);
    assert.match(stdout, /container_1_count_3 INFO counted/);
  });

  test('that is misspelt are refused: 1', async (t) => {
    const args = ['logs', HERE, WORDS, '--component', 'cont'] as const;
    const { exit, message } = await errorOf(await completed(t), ...args);
    assert.equal(exit, 1);
    assert.equal(message, "words has no component 'cont'; did you mean 'count'?");
  });
});
