import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BasicBolt,
  Bolt,
  type BoltOptions,
  Spout,
  type Source,
  topology,
  type Tuple,
} from '../../../src/api/index.ts';
import type { ValueSerializer } from '../../../src/api/serializer.ts';
import { isTopologyDefinition } from '../../../src/api/topology.ts';
import { componentName } from '../../../src/base/ids.ts';

class Sentences extends Spout.of({ default: ['sentence'], log: ['text'] }) {
  nextTuple(): void {}
}

class Split extends BasicBolt.of({ default: ['word'] }) {
  execute(_tuple: Tuple<{ sentence: string }>): void {}
}

class Count extends Bolt {
  execute(_tuple: Tuple): void {}
}

test('components are declared with all that the engine needs to know', () => {
  const { topology: declared } = topology('words', (builder) => {
    const sentences = builder.setSpout('sentences', () => new Sentences(), { parallelism: 2 });
    const split = builder
      .setBolt('split', () => new Split(), { config: { 'topology.debug': true, own: 1 } })
      .shuffleGrouping(sentences);
    builder
      .setBolt('count', () => new Count(), { parallelism: 3 })
      .fieldsGrouping(split, 'word')
      .fieldsGrouping(sentences, ['text'], 'log')
      .allGrouping(sentences);
  }).build();
  assert.equal(declared.name, 'words');
  assert.deepEqual(declared.components, [
    {
      kind: 'spout',
      name: 'sentences',
      parallelism: 2,
      language: 'typescript',
      className: 'Sentences',
      config: new Map(),
      outputs: [
        { stream: 'default', fields: ['sentence'] },
        { stream: 'log', fields: ['text'] },
      ],
    },
    {
      kind: 'bolt',
      name: 'split',
      parallelism: 1,
      language: 'typescript',
      className: 'Split',
      config: new Map([
        ['topology.debug', 'true'],
        ['own', '1'],
      ]),
      outputs: [{ stream: 'default', fields: ['word'] }],
      inputs: [{ component: 'sentences', stream: 'default', grouping: { kind: 'shuffle' } }],
    },
    {
      kind: 'bolt',
      name: 'count',
      parallelism: 3,
      language: 'typescript',
      className: 'Count',
      config: new Map(),
      outputs: [],
      inputs: [
        {
          component: 'split',
          stream: 'default',
          grouping: { kind: 'fields', fields: ['word'] },
        },
        { component: 'sentences', stream: 'log', grouping: { kind: 'fields', fields: ['text'] } },
        { component: 'sentences', stream: 'default', grouping: { kind: 'all' } },
      ],
    },
  ]);
});

test('each grouping has its method', () => {
  const make = () => ({ prepare(): void {}, chooseTasks: () => [] });
  const { topology: declared, customGroupings } = topology('words', (builder) => {
    const sentences = builder.setSpout('sentences', () => new Sentences());
    const others = builder.setSpout('others', () => new Sentences());
    builder
      .setBolt('count', () => new Count())
      .noneGrouping(sentences)
      .localOrShuffleGrouping(sentences, 'log')
      .directGrouping(others)
      .customGrouping(others, make, 'log');
    builder.setBolt('custom', () => new Count()).customGrouping(sentences, make);
  }).build();
  assert.deepEqual(
    declared.components.flatMap((component) =>
      component.kind === 'bolt' ? component.inputs.map(({ grouping }) => grouping.kind) : [],
    ),
    ['none', 'local-or-shuffle', 'direct', 'custom', 'custom'],
  );
  assert.deepEqual(customGroupings, [
    { component: 'others', stream: 'log', bolt: 'count', make },
    { component: 'sentences', stream: 'default', bolt: 'custom', make },
  ]);
});

test('a component may have and read any number of streams', () => {
  const names = Array.from({ length: 300 }, (_, index) => `stream-${index}`);
  class Many extends Spout.of(Object.fromEntries(names.map((name) => [name, ['word']]))) {
    nextTuple(): void {}
  }
  const { topology: declared } = topology('words', (builder) => {
    const many = builder.setSpout('many', () => new Many());
    const count = builder.setBolt('count', () => new Count());
    for (const name of names) count.shuffleGrouping(many, name);
  }).build();
  const [many, count] = declared.components;
  assert.deepEqual(
    many?.outputs.map(({ stream }) => stream),
    names,
  );
  assert.ok(count?.kind === 'bolt' && count.inputs.length === names.length);
});

test('the concurrency of a bolt is one of its settings', () => {
  const build = (options: BoltOptions) =>
    topology('words', (builder) => {
      const sentences = builder.setSpout('sentences', () => new Sentences());
      builder.setBolt('count', () => new Count(), options).shuffleGrouping(sentences);
    }).build().topology.components[1]?.config;
  assert.deepEqual(
    build({ concurrency: 8, order: 'none', config: { own: 1 } }),
    new Map([
      ['own', '1'],
      ['topology.bolt.concurrency', '8'],
      ['topology.bolt.order', 'none'],
    ]),
  );
  assert.deepEqual(build({}), new Map());
  assert.throws(() => build({ concurrency: 0 }), { code: 'INVALID_CONFIG' });
  assert.throws(() => build({ concurrency: 1.5 }), { code: 'INVALID_CONFIG' });
});

test('hooks are kept as they are given', () => {
  const make = () => ({});
  const { taskHooks } = topology('words', (builder) => {
    const sentences = builder.setSpout('sentences', () => new Sentences());
    builder.setBolt('count', () => new Count()).shuffleGrouping(sentences);
    builder.addTaskHook(make).addTaskHook(make);
  }).build();
  assert.deepEqual(taskHooks, [make, make]);
});

test('a custom grouping that is not made by a function is refused', () => {
  const grouping = { prepare(): void {}, chooseTasks: () => [] };
  const refused = topology('words', (builder) => {
    const sentences = builder.setSpout('sentences', () => new Sentences());
    builder.setBolt('count', () => new Count()).customGrouping(sentences, grouping as never);
  });
  assert.throws(() => refused.build(), {
    code: 'INVALID_TOPOLOGY',
    message: /bolt 'count': customGrouping takes a function that makes the grouping/,
  });
});

test('spouts come before bolts, whatever the order in which they were set', () => {
  const { topology: declared } = topology('words', (builder) => {
    const one = builder.setSpout('one', () => new Sentences());
    builder.setBolt('split', () => new Split()).shuffleGrouping(one);
    builder.setSpout('two', () => new Sentences());
  }).build();
  assert.deepEqual(
    declared.components.map(({ name }) => name),
    ['one', 'two', 'split'],
  );
});

test('a factory makes a new component at each call', () => {
  const { factories } = topology('words', (builder) => {
    builder.setSpout('sentences', () => new Sentences());
  }).build();
  const factory = factories.get(componentName('sentences'));
  assert.ok(factory?.() instanceof Sentences);
  assert.notEqual(factory(), factory());
});

test('the name of the submit wins over that in the module', () => {
  const define = topology('inside', (builder) => {
    builder.setSpout('sentences', () => new Sentences());
  });
  assert.equal(define.build().topology.name, 'inside');
  const outside = define.build({ name: 'outside' }).topology;
  assert.equal(outside.name, 'outside');
  assert.equal(outside.config.get('topology.name'), 'outside');
});

test('a topology without a name says where to put one', () => {
  const nameless = topology((builder) => {
    builder.setSpout('sentences', () => new Sentences());
  });
  assert.throws(() => nameless.build(), { code: 'INVALID_TOPOLOGY', message: /has no name/ });
  assert.equal(nameless.build({ name: 'words' }).topology.name, 'words');
});

test('arguments of the submit reach the module', () => {
  const define = topology('words', (builder, [parallelism = '1']) => {
    builder.setSpout('s', () => new Sentences(), { parallelism: Number(parallelism) });
  });
  assert.equal(define.build().topology.components[0]?.parallelism, 1);
  assert.equal(define.build({ args: ['4'] }).topology.components[0]?.parallelism, 4);
});

test('settings of the submit win, and the module sees them', () => {
  const seen: unknown[] = [];
  const { topology: declared } = topology('words', (builder) => {
    builder.setConfig({
      'topology.stmgrs': 2,
      own: 'module',
      'topology.component.rammap': { s: 9 },
    });
    seen.push(builder.config.get('topology.stmgrs'), builder.config.text('own'));
    builder.setSpout('s', () => new Sentences(), { parallelism: 3 });
  }).build({
    config: new Map([
      ['topology.stmgrs', '3'],
      ['extra', 'submit'],
    ]),
  });
  assert.deepEqual(seen, [3, 'module']);
  assert.deepEqual(Object.fromEntries(declared.config), {
    'topology.stmgrs': '3',
    own: 'module',
    'topology.component.rammap': 's:9',
    extra: 'submit',
    'topology.name': 'words',
  });
});

test("settings of the cluster give way to the module's, which sees them", () => {
  const seen: unknown[] = [];
  const { topology: declared } = topology('words', (builder) => {
    builder.setConfig({ 'topology.debug': true });
    seen.push(builder.config.get('topology.stmgrs'), builder.config.get('topology.debug'));
    builder.setSpout('sentences', () => new Sentences());
  }).build({
    baseConfig: new Map([
      ['topology.stmgrs', '2'],
      ['topology.debug', 'false'],
      ['topology.component.parallelism', '3'],
    ]),
  });
  assert.deepEqual(seen, [2, true]);
  assert.equal(declared.config.get('topology.stmgrs'), '2');
  assert.equal(declared.config.get('topology.debug'), 'true');
  assert.equal(declared.components[0]?.parallelism, 3);
});

test('a serializer is kept for the instances, and must be a whole one', () => {
  const serializer = { serialize: () => new Uint8Array(), deserialize: () => undefined };
  const build = (given: unknown) =>
    topology('words', (builder) => {
      builder.setSpout('sentences', () => new Sentences());
      if (given !== undefined) builder.setSerializer(given as ValueSerializer);
    }).build().serializer;
  assert.equal(build(serializer), serializer);
  assert.equal(build(undefined), undefined);
  for (const wrong of [null, {}, { serialize: serializer.serialize }]) {
    assert.throws(() => build(wrong), {
      code: 'INVALID_TOPOLOGY',
      message: /^setSerializer needs/,
    });
  }
});

test('parallelism: the option, then the component, then the topology, then one', () => {
  const key = 'topology.component.parallelism';
  const parallelisms = (config: Record<string, number>): readonly unknown[] =>
    topology('words', (builder) => {
      builder.setSpout('a', () => new Sentences(), { parallelism: 2, config: { [key]: 3 } });
      builder.setSpout('b', () => new Sentences(), { config: { [key]: 3 } });
      builder.setSpout('c', () => new Sentences());
      builder.setConfig(config); // Last, and still counts for all.
    })
      .build()
      .topology.components.map((component) => [component.parallelism, component.config.get(key)]);
  assert.deepEqual(parallelisms({}), [
    [2, undefined],
    [3, undefined],
    [1, undefined],
  ]);
  assert.deepEqual(parallelisms({ [key]: 4 }), [
    [2, undefined],
    [3, undefined],
    [4, undefined],
  ]);
});

test('building refuses a topology with all of its problems', () => {
  const broken = topology('words', (builder) => {
    const sentences = builder.setSpout('sentences', () => new Sentences());
    builder.setBolt('count', () => new Count()).shuffleGrouping(sentences, 'lag' as 'log');
    builder.setBolt('split', () => new Split()).fieldsGrouping(sentences, 'wrod' as 'sentence');
    builder.setConfig({ 'topology.stmgrs': 'x', 'topology.component.parallelism': 'y' });
  });
  assert.throws(() => broken.build(), {
    code: 'INVALID_TOPOLOGY',
    message: [
      "topology 'words' is not valid, 4 problems:",
      "  - topology.stmgrs: expected a whole number from 1 to 100000, got 'x'",
      "  - topology.component.parallelism: expected a whole number from 1 to 100000, got 'y'",
      "  - bolt 'count': it reads stream 'lag' of 'sentences', which declares 'default', 'log'",
      "  - bolt 'split': it groups stream 'default' of 'sentences' by 'wrod', " +
        "but the fields are 'sentence'",
    ].join('\n'),
  });
});

test('a problem with settings alone has the code of settings', () => {
  const broken = topology('words', (builder) => {
    builder.setSpout('sentences', () => new Sentences());
    builder.setConfig({ 'topology.stmgrs': '0' });
  });
  assert.throws(() => broken.build(), { code: 'INVALID_CONFIG' });
});

test('what is no component, or the wrong kind, is refused where it is set', () => {
  const build = (factory: unknown, method: 'setSpout' | 'setBolt' = 'setSpout'): void => {
    topology('words', (builder) => {
      if (method === 'setSpout') builder.setSpout('x', factory as never);
      else builder.setBolt('x', factory as never);
    }).build();
  };
  const notOne = { code: 'INVALID_TOPOLOGY', message: /component 'x' must return a new component/ };
  for (const factory of [
    () => undefined,
    () => Sentences,
    () => ({}),
    async () => new Sentences(),
  ]) {
    assert.throws(() => build(factory), notOne);
  }
  assert.throws(() => build(() => new Count()), {
    message: "setSpout('x') needs a spout, its factory makes a bolt",
  });
  assert.throws(() => build(() => new Sentences(), 'setBolt'), {
    message: "setBolt('x') needs a bolt, its factory makes a spout",
  });
});

test('a constructor that throws is reported with the name of its component', () => {
  const cause = new Error('no such folder');
  const broken = topology('words', (builder) => {
    builder.setSpout('sentences', () => {
      throw cause;
    });
  });
  assert.throws(() => broken.build(), {
    code: 'COMPONENT_FAILED',
    message: "the factory of component 'sentences' failed: no such folder",
    cause,
  });
});

test('a source must come from the same topology', () => {
  const strangers: Source<{ default: readonly ['sentence'] }>[] = [];
  topology('other', (builder) => {
    strangers.push(builder.setSpout('strange', () => new Sentences()));
  }).build();
  const [stranger] = strangers;
  for (const [source, message] of [
    [stranger, "bolt 'split' cannot read 'strange': it belongs to another topology"],
    ['sentences', /^bolt 'split': shuffleGrouping takes what setSpout or setBolt returned, not a/],
  ] as const) {
    const broken = topology('words', (builder) => {
      builder.setBolt('split', () => new Split()).shuffleGrouping(source as never);
    });
    assert.throws(() => broken.build(), { code: 'INVALID_TOPOLOGY', message });
  }
});

test('an async function is refused, and its rejection goes unnoticed by the process', () => {
  const define: unknown = () => Promise.reject(new Error('too late'));
  const broken = topology('words', define as never);
  assert.throws(() => broken.build(), { code: 'INVALID_TOPOLOGY', message: /must not be async/ });
});

test('a definition is recognised by its symbol', () => {
  assert.ok(isTopologyDefinition(topology(() => {})));
  assert.ok(isTopologyDefinition({ [Symbol.for('heron-ts.topology')]: true }));
  for (const value of [undefined, null, {}, () => 1, 'topology']) {
    assert.equal(isTopologyDefinition(value), false);
  }
});
