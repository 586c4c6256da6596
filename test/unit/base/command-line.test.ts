import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommandLine, PORT, tokenFromEnvironment } from '../../../src/base/command-line.ts';

const FLAGS = ['host', 'port'] as const;

test('flags are read by name', () => {
  const flags = new CommandLine(['--host=127.0.0.1', '--port=0'], FLAGS);
  assert.equal(flags.text('host'), '127.0.0.1');
  assert.equal(flags.wholeNumber('port', PORT), 0);
});

const WRONG: ReadonlyArray<readonly [string, readonly string[], RegExp]> = [
  ['a flag is missing', ['--port=1'], /--host is missing/],
  ['a flag is empty', ['--port=1', '--host='], /--host is missing/],
  ['a number is none', ['--host=h', '--port=x'], /--port: expected .* 0 to 65535, got 'x'/],
  ['a number has a sign', ['--host=h', '--port=-1'], /--port: expected/],
  ['a number is too large', ['--host=h', '--port=65536'], /--port: expected/],
  ['a flag is unknown', ['--host=h', '--port=1', '--color=red'], /--color/],
  ['a word stands alone', ['--host=h', '--port=1', 'start'], /start/],
];

for (const [name, args, message] of WRONG) {
  test(`refused: ${name}`, () => {
    const read = (): void => {
      const flags = new CommandLine(args, FLAGS);
      flags.text('host');
      flags.wholeNumber('port', PORT);
    };
    assert.throws(read, { code: 'INVALID_ARGUMENT', message });
  });
}

test('the token comes in the environment, and must come', () => {
  assert.equal(tokenFromEnvironment({ HERON_TOKEN: 'secret' }), 'secret');
  const refused = { code: 'INVALID_ARGUMENT', message: /HERON_TOKEN is missing/ };
  assert.throws(() => tokenFromEnvironment({}), refused);
  assert.throws(() => tokenFromEnvironment({ HERON_TOKEN: '' }), refused);
});
