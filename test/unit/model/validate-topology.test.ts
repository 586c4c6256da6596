import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { topologyName } from '../../../src/base/ids.ts';
import type { Component, Grouping } from '../../../src/model/logical-topology.ts';
import {
  invalidTopology,
  topologyNameProblems,
  validateTopology,
} from '../../../src/model/validate-topology.ts';
import { decodeTopology } from '../../../src/wire/topology.ts';
import { aBolt, anInput, anOutput, aSpout, aTopology } from '../../support/topologies.ts';

function messages(
  components: readonly Component[],
  config: Readonly<Record<string, string>> = {},
): readonly string[] {
  return validateTopology(aTopology(components, config)).map(({ message }) => message);
}

const byWord: Grouping = { kind: 'fields', fields: ['word'] };

test('a topology without fault has no problems', () => {
  assert.deepEqual(validateTopology(aTopology()), []);
});

test('all problems are found in one pass', () => {
  const problems = validateTopology({
    ...aTopology([aSpout('a', { parallelism: 0 }), aBolt('b', ['x']), aBolt('c', [])], {
      'topology.stmgrs': 'x',
    }),
    name: topologyName('a.b'),
  });
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['INVALID_TOPOLOGY', 'INVALID_CONFIG', ...Array<string>(3).fill('INVALID_TOPOLOGY')],
  );
});

const BAD_NAMES = ['', 'a.b', 'a/b', '..', 'ü', '😀', 'a b', 'a\nb', 'x'.repeat(10_240)];

for (const name of BAD_NAMES) {
  test(`a topology cannot be named ${JSON.stringify(name.slice(0, 20))}`, () => {
    const [problem, ...others] = topologyNameProblems(name);
    assert.match(problem?.message ?? '', /^the topology's name '.*' must have 1 to 128 letters/);
    assert.ok((problem?.message.length ?? 0) < 200);
    assert.deepEqual(others, []);
  });
}

test('names of any letters give problems, never an exception', () => {
  const name = fc.string({ unit: 'binary', maxLength: 150 });
  fc.assert(
    fc.property(name, name, name, name, (topology, component, stream, field) => {
      const spout = aSpout(component, { outputs: [anOutput([field], stream)] });
      const bolt = aBolt('bolt', [anInput(component, { kind: 'fields', fields: [field] }, stream)]);
      const declared = { ...aTopology([spout, bolt]), name: topologyName(topology) };
      for (const { message } of validateTopology(declared)) {
        assert.ok(!message.includes('\n'));
        assert.ok(message.length < 500);
      }
    }),
    {
      examples: [
        ['', '', '\n', ''],
        ['a', '\n', '__\n', '\n'],
      ],
    },
  );
});

test('names that are safe in paths and metrics are taken', () => {
  for (const name of ['a', 'A-b_9', '_', 'x'.repeat(128)]) {
    assert.deepEqual(topologyNameProblems(name), []);
    assert.deepEqual(messages([aSpout(name)]), []);
  }
  assert.deepEqual(messages([aSpout('v1.2')]), []);
});

const NAME_RULE =
  "its name must have 1 to 128 letters, digits, '-', '_' or '.', with no '.' in front";

const COMPONENTS: readonly {
  readonly name: string;
  readonly components: readonly Component[];
  readonly config?: Readonly<Record<string, string>>;
  readonly expected: readonly string[];
}[] = [
  {
    name: 'a component with a comma in its name',
    components: [aSpout('a,b')],
    expected: [`spout 'a,b': ${NAME_RULE}`],
  },
  {
    name: 'a component with the name of a folder',
    components: [aSpout('..')],
    expected: [`spout '..': ${NAME_RULE}`],
  },
  {
    name: 'a component with a name of the engine',
    components: [aSpout('__system')],
    expected: ["spout '__system': names that begin with '__' are the engine's own"],
  },
  {
    name: 'two components of one name',
    components: [aSpout('a'), aBolt('a', [])],
    expected: [
      "component 'a': the name is used more than once, each needs its own",
      "bolt 'a' reads nothing: add a grouping, such as shuffleGrouping(source)",
    ],
  },
  {
    name: 'parallelism that is no number of tasks',
    components: [aSpout('a', { parallelism: 0 }), aSpout('b', { parallelism: 1.5 })],
    expected: [
      "spout 'a': its parallelism must be a whole number from 1, not 0",
      "spout 'b': its parallelism must be a whole number from 1, not 1.5",
    ],
  },
  {
    name: 'more tasks than key groups',
    components: [aSpout('a'), aBolt('b', [anInput('a', byWord)], { parallelism: 5 })],
    config: { 'topology.key.groups': '4' },
    expected: [
      "bolt 'b': its parallelism of 5 is above the 4 key groups that a fields grouping shares " +
        'out; raise topology.key.groups or lower the parallelism',
    ],
  },
  {
    name: 'as many tasks as key groups, and more where nothing is keyed',
    components: [
      aSpout('a', { parallelism: 5 }),
      aBolt('b', [anInput('a', byWord)], { parallelism: 4 }),
      aBolt('c', ['a'], { parallelism: 5 }),
    ],
    config: { 'topology.key.groups': '4' },
    expected: [],
  },
  {
    name: 'a wrong number of key groups is one problem',
    components: [aSpout('a'), aBolt('b', [anInput('a', byWord)], { parallelism: 2000 })],
    config: { 'topology.key.groups': '0' },
    expected: ["topology.key.groups: expected a whole number from 1 to 65536, got '0'"],
  },
  {
    name: 'a wrong setting of a component',
    components: [aSpout('a', { config: new Map([['topology.debug', 'maybe']]) })],
    expected: ["spout 'a': topology.debug: expected 'true' or 'false', got 'maybe'"],
  },
  {
    name: 'settings that exclude each other',
    components: [aSpout('a')],
    config: { 'heron.executor.restart.backoff.max.ms': '1' },
    expected: [
      'heron.executor.restart.backoff.min.ms: 100 is above ' +
        'heron.executor.restart.backoff.max.ms, which is 1',
    ],
  },
  {
    name: 'resources for a component that does not exist',
    components: [aSpout('words')],
    config: { 'topology.component.rammap': 'words:1,wordz:1' },
    expected: ["topology.component.rammap: there is no component 'wordz'; did you mean 'words'?"],
  },
  {
    name: 'streams and fields that are declared twice or have no proper name',
    components: [
      aSpout('a', {
        outputs: [
          anOutput(['x', 'x']),
          anOutput(['']),
          anOutput(['x'.repeat(256)], 'long'),
          anOutput(['x'], '__tick'),
          anOutput(['x'], 'a b'),
        ],
      }),
    ],
    expected: [
      "spout 'a': stream 'default' is declared more than once",
      "spout 'a': stream 'default' has field 'x' twice",
      "spout 'a': field '' of stream 'default' must have 1 to 256 letters",
      "spout 'a': stream '__tick': names that begin with '__' are the engine's own",
      "spout 'a': stream 'a b' must have 1 to 128 letters, digits, '-', '_' or '.'",
    ],
  },
  {
    name: 'a source that does not exist',
    components: [aSpout('sentences'), aBolt('split', ['sentence'])],
    expected: [
      "bolt 'split': it reads 'sentence', but there is no such component; " +
        "did you mean 'sentences'?",
    ],
  },
  {
    name: 'a stream that does not exist',
    components: [aSpout('a'), aBolt('b', [anInput('a', { kind: 'all' }, 'late')])],
    expected: ["bolt 'b': it reads stream 'late' of 'a', which declares 'default'"],
  },
  {
    name: 'a source that emits nothing',
    components: [aSpout('a', { outputs: [] }), aBolt('b', ['a'])],
    expected: ["bolt 'b': it reads stream 'default' of 'a', which declares none"],
  },
  {
    name: 'the same stream read twice',
    components: [aSpout('a'), aBolt('b', ['a', anInput('a', byWord)])],
    expected: ["bolt 'b': it reads stream 'default' of 'a' more than once"],
  },
  {
    name: 'a grouping by fields that do not exist, by none, and by one twice',
    components: [
      aSpout('a', { outputs: [anOutput(['word', 'at'])] }),
      aBolt('b', [anInput('a', { kind: 'fields', fields: ['wrod'] })]),
      aBolt('c', [anInput('a', { kind: 'fields', fields: [] })]),
      aBolt('d', [anInput('a', { kind: 'fields', fields: ['at', 'at'] })]),
    ],
    expected: [
      "bolt 'b': it groups stream 'default' of 'a' by 'wrod', but the fields are 'word', 'at'",
      "bolt 'c': the fields grouping of stream 'default' of 'a' names no fields",
      "bolt 'd': the grouping of stream 'default' of 'a' names 'at' twice",
    ],
  },
  {
    name: 'custom groupings whose code and source are of different languages',
    components: [
      aSpout('a'),
      aSpout('j', { language: 'java' }),
      aBolt('b', [anInput('a', { kind: 'custom' })]),
      aBolt('c', [anInput('a', { kind: 'custom' })], { language: 'java' }),
      aBolt('d', [anInput('j', { kind: 'custom' })]),
      aBolt('e', [anInput('j', { kind: 'direct' })]),
    ],
    expected: [
      "bolt 'c': a custom grouping (of 'a') cannot lie between TypeScript and another language",
      "bolt 'd': a custom grouping (of 'j') cannot lie between TypeScript and another language",
    ],
  },
  {
    name: 'a stream that is read by direct grouping and by another',
    components: [
      aSpout('a', { outputs: [anOutput(['word']), anOutput(['word'], 'told')] }),
      aBolt('b', [anInput('a', { kind: 'direct' }, 'told'), anInput('a')]),
      aBolt('c', [anInput('a', { kind: 'direct' }, 'told')]),
      aBolt('d', [anInput('a', { kind: 'all' }, 'told')]),
    ],
    expected: [
      "stream 'told' of 'a' is read by direct grouping ('b') and by another ('d'): declare a " +
        'stream of its own for what is emitted to one task',
    ],
  },
  {
    name: 'the same groupings among components of another language',
    components: [
      aSpout('a', { language: 'java' }),
      aBolt('b', [anInput('a', { kind: 'direct' })], { language: 'java' }),
      aBolt('c', [anInput('a', { kind: 'custom' })], { language: 'java' }),
      aBolt('d', [anInput('a', { kind: 'none' })], { language: 'java' }),
    ],
    expected: [],
  },
];

for (const { name, components, config, expected } of COMPONENTS) {
  test(name, () => assert.deepEqual(messages(components, config), expected));
}

test('what could not be stored, or sent to every process, is refused', () => {
  const half = 'a\ud800';
  assert.match(messages([aSpout('a', { outputs: [anOutput([half])] })]).join(), /1 to 256 letters/);
  assert.match(messages([aSpout('a')], { own: half }).join(), /'own': half of a surrogate pair/);
  assert.match(messages([aSpout('a')], { '': 'x' }).join(), /a key must have 1 to 256 letters/);
  assert.match(messages([aSpout('a', { config: new Map([[half, 'x']]) })]).join(), /^spout 'a': /);
  const [fits, tooMuch] = [1024 * 1024 - 'own'.length, 1024 * 1024];
  assert.deepEqual(messages([aSpout('a')], { own: 'x'.repeat(fits) }), []);
  assert.match(messages([aSpout('a')], { own: 'x'.repeat(tooMuch) }).join(), /1048579 letters/);
  assert.deepEqual(messages([aSpout('a', { parallelism: 100_000 })]), []);
  assert.deepEqual(messages([aSpout('a', { parallelism: 100_001 })]), [
    "spout 'a': its parallelism of 100001 is above 100000",
  ]);
});

test('settings of a component must go with those of the topology', () => {
  const large = new Map([['heron.instance.set.data.tuple.size.bytes', String(16 * 1024 * 1024)]]);
  const [problem, ...others] = messages([aSpout('a', { config: large }), aBolt('b', ['a'])]);
  assert.match(problem ?? '', /^spout 'a': heron\.instance\.set\.data\.tuple\.size\.bytes: /);
  assert.deepEqual(others, []);
  const roomy = { 'heron.streammgr.network.options.maximum.packet.mb': '32' };
  assert.deepEqual(messages([aSpout('a', { config: large })], roomy), []);
});

test('one error stands for all problems', () => {
  const name = topologyName('words');
  const one = { code: 'INVALID_CONFIG', message: 'a is wrong' } as const;
  const two = { code: 'INVALID_TOPOLOGY', message: 'b is wrong' } as const;
  const single = invalidTopology(name, [one]);
  assert.equal(single.code, 'INVALID_CONFIG');
  assert.equal(single.message, "topology 'words' is not valid: a is wrong");
  const both = invalidTopology(name, [one, two]);
  assert.equal(both.code, 'INVALID_TOPOLOGY');
  assert.equal(
    both.message,
    "topology 'words' is not valid, 2 problems:\n  - a is wrong\n  - b is wrong",
  );
});

test("what the builder writes into a replaying spout's settings is the engine's alone", () => {
  const mark = { 'heron.component.replays': 'true' };
  const replaying = aSpout('lines', { config: new Map(Object.entries(mark)) });
  assert.deepEqual(messages([replaying, aBolt('count', ['lines'])]), []);
  const refusal =
    "heron.component.replays is the engine's own; say 'replays' in the options of setSpout instead";
  const bolt = aBolt('count', ['lines'], { config: new Map(Object.entries(mark)) });
  assert.deepEqual(messages([replaying, bolt]), [`bolt 'count': ${refusal}`]);
  assert.deepEqual(messages([replaying, aBolt('count', ['lines'])], mark), [refusal]);
});

for (const [key, text] of [
  ['topology.reliability.mode', 'ATLEAST_ONCE'],
  ['topology.message.timeout.secs', '60'],
  ['topology.enable.message.timeouts', 'true'],
  ['topology.backpressure.scope', 'all'],
  ['topology.droptuples.upon.backpressure', 'true'],
] as const) {
  test(`${key} cannot be that of one component`, () => {
    const lines = aSpout('lines', { config: new Map([[key, text]]) });
    assert.deepEqual(messages([lines, aBolt('count', ['lines'])]), [
      `spout 'lines': ${key} holds for a whole topology; set it there`,
    ]);
    assert.deepEqual(messages([aSpout('lines'), aBolt('count', ['lines'])], { [key]: text }), []);
  });
}

test('settings of a replaying spout are still held against those of the topology', () => {
  const lines = aSpout('lines', {
    config: new Map([
      ['heron.component.replays', 'true'],
      ['topology.retry.backoff.ms', '20000'],
    ]),
  });
  assert.deepEqual(messages([lines, aBolt('count', ['lines'])]), [
    "spout 'lines': topology.retry.backoff.ms: 20000 is above topology.retry.backoff.max.ms, " +
      'which is 10000',
  ]);
});

test('a chain of ten thousand bolts is fit to run', () => {
  const bolts = Array.from({ length: 10_000 }, (_, i) =>
    aBolt(`bolt-${i}`, [i === 0 ? 'spout' : `bolt-${i - 1}`]),
  );
  assert.deepEqual(messages([aSpout('spout'), ...bolts]), []);
});

const GOLDEN = new URL('../../golden/topology/', import.meta.url);

for (const file of readdirSync(GOLDEN).filter((name) => name.endsWith('.bin'))) {
  test(`Heron's own ${file} is fit to run, save for checkpoints`, () => {
    const problems = validateTopology(decodeTopology(readFileSync(new URL(file, GOLDEN))));
    const others = problems.filter(({ message }) => !message.endsWith("got 'EFFECTIVELY_ONCE'"));
    assert.deepEqual(others, []);
  });
}
