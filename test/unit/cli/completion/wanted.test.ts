import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Wanted, wantedAt } from '../../../../src/cli/completion/wanted.ts';
import { createProgram } from '../../../../src/cli/program.ts';

const program = createProgram(async () => {});

test('what is completed where', () => {
  const place = 'local/me/dev';
  const cases: readonly (readonly [string, Wanted])[] = [
    ['kill ', { kind: 'place' }],
    ['kill --if-exists loc', { kind: 'place' }],
    [`kill ${place} `, { kind: 'topology', place }],
    [`kill --timeout 5 ${place} wo`, { kind: 'topology', place }],
    [`kill -- ${place} -wo`, { kind: 'topology', place }],
    [`restart ${place} words `, { kind: 'part', place, topology: 'words' }],
    ['dead-letters ', wordsAt('list', 'show', 'replay', 'purge')],
    [`dead-letters list ${place} `, { kind: 'topology', place }],
    [`dead-letters show ${place} words 3-1 `, { kind: 'letter', place, topology: 'words' }],
    [`submit ${place} `, { kind: 'file' }],
    [`submit ${place} file.ts words `, { kind: 'file' }],
    [`submit ${place} file.ts words a b `, { kind: 'file' }],
    ['logs --level ', { kind: 'words', words: ['debug', 'info', 'warn', 'error'] }],
    ['submit --dry-run-format c', wordsAt('table', 'colored-table', 'json', 'raw')],
    ['kill --timeout ', wordsAt()],
    [`kill ${place} words `, wordsAt()],
    ['completion ', wordsAt('bash', 'zsh', 'fish')],
    ['config ', wordsAt('show')],
    ['config show ', { kind: 'place' }],
  ];
  for (const [line, expected] of cases) {
    assert.deepEqual(wantedAt(program, line.split(' ')), expected, line);
  }
});

test('commands and options are those of the program, without what is hidden', () => {
  const visible = program.commands.map((command) => command.name());
  const commands = wantedAt(program, ['']);
  assert.ok(commands.kind === 'words');
  assert.deepEqual(
    commands.words,
    visible.filter((name) => name !== 'complete'),
  );
  assert.deepEqual(wantedAt(program, ['help', '']), commands);
  const options = wantedAt(program, ['kill', '-']);
  assert.ok(options.kind === 'words');
  for (const option of ['--json', '--if-exists', '--drain', '--help']) {
    assert.ok(options.words.includes(option), option);
  }
});

function wordsAt(...words: readonly string[]): Wanted {
  return { kind: 'words', words };
}
