import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseConfigYaml } from '../../../src/config/config-yaml.ts';

function read(...lines: readonly string[]) {
  const { entries, problems } = parseConfigYaml('all.yaml', lines.join('\n'));
  return {
    texts: Object.fromEntries(Array.from(entries, ([key, { text }]) => [key, text])),
    origins: Array.from(entries.values(), ({ origin }) => origin),
    problems,
  };
}

test('values are taken as they are written, each with its line', () => {
  const { texts, origins, problems } = read(
    '# usual here',
    'topology.stmgrs: 3',
    'topology.container.ram: 9007199254740993',
    'topology.debug: True',
    'words.when: 2024-01-02',
    'words.answer: yes',
    'words.octal: 0o17',
    "words.quoted: '007'",
    "words.empty: ''",
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(texts, {
    'topology.stmgrs': '3',
    'topology.container.ram': '9007199254740993',
    'topology.debug': 'True',
    'words.when': '2024-01-02',
    'words.answer': 'yes',
    'words.octal': '0o17',
    'words.quoted': '007',
    'words.empty': '',
  });
  assert.deepEqual(
    origins,
    [2, 3, 4, 5, 6, 7, 8, 9].map((line) => `all.yaml:${line}`),
  );
});

test('maps and lists become the text of their setting', () => {
  const { texts, problems } = read(
    'topology.component.rammap: { count: 512, split: 256 }',
    'topology.component.cpumap:',
    '  count: 1.5',
    'heron.scheduler.local.hosts: [127.0.0.1, 127.0.0.2]',
    'a: &shared 3',
    'b: *shared',
  );
  assert.deepEqual(problems, []);
  assert.deepEqual(texts, {
    'topology.component.rammap': 'count:512,split:256',
    'topology.component.cpumap': 'count:1.5',
    'heron.scheduler.local.hosts': '127.0.0.1,127.0.0.2',
    a: '3',
    b: '3',
  });
});

const WRONG: readonly (readonly [lines: readonly string[], problem: RegExp])[] = [
  [['topology.stmgrs: 3', 'topology.stmgrs: 4'], /^all\.yaml:2: Map keys must be unique/],
  [['topology.stmgrs: 3', 'topology.debug:'], /^all\.yaml:2: topology\.debug has no value/],
  [['topology.debug: ~'], /^all\.yaml:1: topology\.debug has no value/],
  [['topology:', '  stmgrs:', '    a: 3'], /^all\.yaml:1: topology: expected .* written whole/],
  [['a: [[1]]'], /^all\.yaml:1: a: expected/],
  [['a: ["x,y"]'], /^all\.yaml:1: a: expected/],
  [['a: b: c'], /^all\.yaml:1: Nested mappings are not allowed/],
  [['- topology.stmgrs: 3'], /^all\.yaml:1: expected settings/],
  [['just words'], /^all\.yaml:1: expected settings/],
  [['? [a]', ': 1'], /^all\.yaml:1: the key of a setting must be a word/],
  [['a: "x'], /^all\.yaml:1: Missing closing/],
  [['a: 1', '---', 'a: 2'], /^all\.yaml:2: Source contains multiple documents/],
];

for (const [lines, problem] of WRONG) {
  test(`${lines.join(' / ')} is refused with its line`, () => {
    const { problems } = read(...lines);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? '', problem);
  });
}

test('an empty file has no settings', () => {
  for (const text of ['', '# nothing', '---']) assert.deepEqual(read(text).problems, [], text);
});

test('any text is read or refused with a line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      for (const problem of read(text).problems) assert.match(problem, /^all\.yaml:\d+: ./);
    }),
  );
});
