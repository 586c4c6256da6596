import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { topologyName } from '../../../src/base/ids.ts';
import { createProgram } from '../../../src/cli/program.ts';
import { paths } from '../../../src/state-manager/paths.ts';
import { encodeTopology } from '../../../src/wire/topology.ts';
import { runInProcess } from '../../support/command-line.ts';
import { exitCodeTable, lineOf, type Situation } from '../../support/exit-code-table.ts';
import { STATE, writeNodes } from '../../support/state-nodes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { aTopology } from '../../support/topologies.ts';

/*
  The table of exit codes in docs/cli.md (O24), for each command and each situation that needs no
  running topology; those are in test/cluster/cli/exit-code-table.test.ts.
*/

const WORDS = topologyName('words');
const MODULE = join(import.meta.dirname, '../../cluster/cli/fixtures/topologies/short.ts');
const ABOUT = { place: 'local/tester/dev', name: WORDS, module: MODULE };

const DATA_ROOTS: Readonly<
  Record<Exclude<Situation, 'runs'>, (t: TestContext) => Promise<string>>
> = {
  absent: async (t) => (await temporaryFolder(t)).path,
  'half dead': (t) => writeNodes(t, { [paths.topology(WORDS)]: encodeTopology(aTopology()) }),
  'store down': async (t) => {
    const { path } = await temporaryFolder(t);
    await mkdir(join(path, 'repository', 'state'), { recursive: true });
    await writeFile(join(path, STATE), 'a file where the folder should be');
    return path;
  },
};

/** It would start a topology. */
function starts(words: readonly string[], code: number): boolean {
  return ['submit', 'run'].includes(words[0] ?? '') && code === 0 && words[1] !== '--dry-run';
}

for (const situation of ['absent', 'half dead', 'store down'] as const) {
  describe(`a topology: ${situation}`, () => {
    for (const row of exitCodeTable()) {
      const expected = row.codes[situation];
      if (starts(row.words, expected)) continue;
      test(`${row.words.join(' ')}: ${expected}, and one JSON value`, async (t) => {
        const path = await DATA_ROOTS[situation](t);
        const { code, stdout } = await runInProcess(path, [...lineOf(row, ABOUT), '--json']);
        assert.equal(code, expected, stdout);
        const value = JSON.parse(stdout) as { readonly error?: { readonly next: string } };
        const isError = code !== 0 && row.words[0] !== 'doctor';
        assert.equal(value.error !== undefined && value.error.next.length > 0, isError);
      });
    }
  });
}

test('every command about a place is in the table', () => {
  const program = createProgram(async () => {});
  const isAbout = (word: string, { registeredArguments }: CommandUnknownOpts): boolean =>
    registeredArguments.some((argument) => argument.name() === word);
  const names = program.commands
    .filter(
      (command) =>
        isAbout('place', command) || command.commands.some((each) => isAbout('topology', each)),
    )
    .map((command) => command.name());
  const inTable = new Set(exitCodeTable().map(({ words }) => words[0] ?? ''));
  assert.deepEqual([...inTable].toSorted(), names.toSorted());
});
