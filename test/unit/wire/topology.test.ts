import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { AssertionError } from '../../../src/base/assert.ts';
import { EngineError } from '../../../src/base/errors.ts';
import { componentName, streamName, topologyId, topologyName } from '../../../src/base/ids.ts';
import type { Grouping, LogicalTopology } from '../../../src/model/logical-topology.ts';
import * as proto from '../../../src/wire/generated/topology_pb.js';
import { StoredTopology } from '../../../src/wire/messages.ts';
import {
  decodeTopology,
  encodeTopology,
  topologyFromMessage,
  topologyToMessage,
  withState,
} from '../../../src/wire/topology.ts';
import { goldenFolder } from '../../support/golden.ts';

const groupings: readonly Grouping[] = [
  { kind: 'shuffle' },
  { kind: 'none' },
  { kind: 'local-or-shuffle' },
  { kind: 'all' },
  { kind: 'global' },
  { kind: 'fields', fields: ['word', 'count'] },
  { kind: 'direct' },
  { kind: 'custom' },
];

const words: LogicalTopology = {
  id: topologyId('words-4f2a'),
  name: topologyName('words'),
  state: 'PAUSED',
  config: new Map([
    ['topology.stmgrs', '2'],
    ['topology.message.timeout.secs', '30'],
  ]),
  components: [
    {
      kind: 'spout',
      name: componentName('sentences'),
      parallelism: 2,
      language: 'typescript',
      className: 'Sentences',
      config: new Map([['topology.component.ram', '1']]),
      outputs: [
        { stream: streamName('default'), fields: ['word', 'count'] },
        { stream: streamName('errors'), fields: [] },
      ],
    },
    {
      kind: 'bolt',
      name: componentName('count'),
      parallelism: 4,
      language: 'typescript',
      className: 'Count',
      config: new Map(),
      outputs: [],
      inputs: groupings.map((grouping) => ({
        component: componentName('sentences'),
        stream: streamName('default'),
        grouping,
      })),
    },
  ],
  module: { file: 'words.mjs', arguments: ['--file', ''] },
};

const corrupted =
  (text: string) =>
  (error: unknown): boolean => {
    assert.ok(error instanceof EngineError);
    assert.equal(error.code, 'STATE_CORRUPTED');
    assert.ok(error.message.includes(text), error.message);
    return true;
  };

const { PYTHON_SERIALIZED_VALUE } = proto.ConfigValueType;

suite('topologies', () => {
  test('come back as they were, ours whole (T1)', () => {
    assert.deepEqual(decodeTopology(encodeTopology(words)), words);
    for (const state of ['RUNNING', 'PAUSED', 'KILLED'] as const) {
      const { module: _, ...withoutModule } = words;
      const topology = { ...withoutModule, state };
      assert.deepEqual(decodeTopology(encodeTopology(topology)), topology);
    }
  });

  test('keep the module when it takes no arguments', () => {
    const topology = { ...words, module: { file: 'words.mjs', arguments: [] } };
    assert.deepEqual(decodeTopology(encodeTopology(topology)), topology);
  });

  test('tell foreign processes groupings that they know', () => {
    const types = topologyToMessage(words).bolts[0]?.inputs.map(({ gtype }) => gtype);
    const { SHUFFLE, NONE, ALL, LOWEST, FIELDS, DIRECT, CUSTOM } = proto.Grouping;
    assert.deepEqual(types, [SHUFFLE, NONE, SHUFFLE, ALL, LOWEST, FIELDS, DIRECT, CUSTOM]);
  });

  test('tell foreign processes the parallelism of a component', () => {
    const { kvs } = topologyToMessage(words).bolts[0]?.comp?.config ?? { kvs: [] };
    assert.deepEqual(
      kvs.map(({ key, value }) => [key, value]),
      [['topology.component.parallelism', '4']],
    );
  });

  test('of Heron are read: languages, classes, streams and groupings', () => {
    const read = new Map(
      goldenFolder('topology').map(({ name, bytes }) => [name, decodeTopology(bytes)]),
    );
    const plain = read.get('topology/plain');
    assert.equal(plain?.name, 'g-plain');
    assert.equal(plain?.module, undefined);
    const [word, ...bolts] = plain?.components ?? [];
    assert.equal(word?.kind, 'spout');
    assert.equal(word?.language, 'python');
    assert.equal(word?.className, 'wc.components.WordSpout');
    assert.equal(word?.parallelism, 2);
    assert.deepEqual(word?.outputs, [{ stream: 'default', fields: ['word'] }]);
    assert.ok(bolts.length > 0 && bolts.every(({ kind }) => kind === 'bolt'));
    const groupingKinds = (name: string): string[] =>
      (read.get(name)?.components ?? []).flatMap((component) =>
        component.kind === 'bolt' ? component.inputs.map(({ grouping }) => grouping.kind) : [],
      );
    assert.ok(groupingKinds('topology/plain').includes('fields'));
    assert.ok(groupingKinds('topology/custom').includes('custom'));
    for (const name of ['topology/jacked', 'topology/jstate', 'topology/live']) {
      assert.ok(
        read.get(name)?.components.every(({ language }) => language === 'java'),
        name,
      );
    }
  });

  test('of Heron pass through in another state with all their bytes (T2)', () => {
    for (const { name, bytes } of goldenFolder('topology')) {
      const unknown = Uint8Array.from([...bytes, 0xfa, 0x7f, 1, 7]); // Field 2047.
      const message = StoredTopology.decode(unknown);
      const paused = withState(message, 'PAUSED');
      assert.equal(topologyFromMessage(paused).state, 'PAUSED');
      const back = withState(paused, topologyFromMessage(message).state);
      assert.deepEqual(StoredTopology.encode(back), unknown, name);
      assert.deepEqual(StoredTopology.encode(message), unknown, 'the original is untouched');
    }
  });

  test('of other languages are written by class name, never without their code', () => {
    const [spout] = words.components;
    assert.ok(spout?.kind === 'spout');
    for (const language of ['python', 'java', 'cpp'] as const) {
      const topology: LogicalTopology = { ...words, components: [{ ...spout, language }] };
      assert.deepEqual(decodeTopology(encodeTopology(topology)), topology);
    }
    const serialized = { ...spout, language: 'java', className: '' } as const;
    assert.throws(() => encodeTopology({ ...words, components: [serialized] }), AssertionError);
  });

  test('keep settings of other languages out of the model', () => {
    const message = topologyToMessage(words);
    message.topologyConfig?.kvs.push(
      ...(StoredTopology.create({
        topologyConfig: {
          kvs: [
            { key: 'serialized', serializedValue: Uint8Array.of(1), type: PYTHON_SERIALIZED_VALUE },
            { key: 'untyped', value: 'text' },
            { key: 'empty' },
          ],
        },
      }).topologyConfig?.kvs ?? []),
    );
    const { config } = topologyFromMessage(message);
    assert.deepEqual(config, new Map([...words.config, ['untyped', 'text']]));
  });

  test('that are corrupted say what is wrong', () => {
    const spoiled = (spoil: (component: Record<string, unknown>) => void): Uint8Array => {
      const message = topologyToMessage(words);
      spoil(message.spouts[0]?.comp as unknown as Record<string, unknown>);
      return StoredTopology.encode(message);
    };
    const rows: [string, (component: Record<string, unknown>) => void][] = [
      ['unknown language "cobol"', (component) => (component['language'] = 'cobol')],
      ['neither spec nor language', (component) => delete component['language']],
      [
        'topology.component.parallelism is missing',
        (component) =>
          (component['config'] = StoredTopology.create({ topologyConfig: {} }).topologyConfig),
      ],
    ];
    for (const [text, spoil] of rows) {
      assert.throws(() => decodeTopology(spoiled(spoil)), corrupted(text));
    }
    for (const parallelism of ['0', '-1', '1.5', 'many', '']) {
      const message = topologyToMessage(words);
      const [, setting] = message.spouts[0]?.comp?.config?.kvs ?? [];
      assert.equal(setting?.key, 'topology.component.parallelism');
      setting.value = parallelism;
      const decode = (): unknown => decodeTopology(StoredTopology.encode(message));
      assert.throws(decode, corrupted(`component sentences: ${setting.key} is "${parallelism}"`));
    }
    assert.throws(() => decodeTopology(Uint8Array.of(0x0a, 9)), corrupted('the stored topology'));
  });
});
