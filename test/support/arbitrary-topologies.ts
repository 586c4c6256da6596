import * as fc from 'fast-check';
import { componentName, streamName, topologyName } from '../../src/base/ids.ts';
import type {
  BoltComponent,
  Component,
  ConfigMap,
  DeclaredTopology,
  Grouping,
  OutputStream,
  SpoutComponent,
} from '../../src/model/logical-topology.ts';

/*
  Topologies as a module, a broken client or a damaged record might describe them: some are valid,
  most are not. Names come from few, so that components do find each other.
*/

const ODD_NAMES = [
  '',
  '/',
  '..',
  'a/b',
  'ü',
  '😀',
  'a b',
  'a\nb',
  '__x',
  '\ud800',
  'x'.repeat(10_240),
];

/** Objects with the usual prototype, which comparisons look at. */
const PLAIN = { noNullPrototype: true } as const;

function oftenGood<Value>(good: fc.Arbitrary<Value>, odd: fc.Arbitrary<Value>) {
  return fc.oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: odd });
}

const oddName = fc.oneof(fc.constantFrom(...ODD_NAMES), fc.string({ unit: 'binary' }));
const name = oftenGood(fc.constantFrom('a', 'b', 'c', 'd'), oddName);
const stream = oftenGood(fc.constantFrom('default', 'default', 'errors'), oddName);
const field = oftenGood(fc.constantFrom('word', 'count'), oddName);

const setting = oftenGood<readonly [key: string, text: string]>(
  fc.constantFrom<readonly [string, string]>(
    ['topology.stmgrs', '2'],
    ['topology.debug', 'true'],
    ['topology.container.ram', '17179869184'],
    ['topology.enable.message.timeouts', 'false'],
    ['heron.shutdown.grace.ms', '100'],
    ['words.file', 'a.txt'],
  ),
  fc.oneof(
    fc.tuple(
      fc.constantFrom(
        'topology.stmgrs',
        'topology.component.rammap',
        'topology.container.ram',
        'topology.message.timeout.secs',
        'topology.key.groups',
        'topology.acking',
        'topology.kryo.register',
      ),
      fc.oneof(fc.constantFrom('', '0', '1', '-1', '1e9', 'a:1', 'true', '60'), fc.string()),
    ),
    fc.tuple(fc.oneof(field, fc.string({ unit: 'binary' })), fc.string({ unit: 'binary' })),
    fc.constant<readonly [string, string]>(['own', '\udfff']),
  ),
);

const config: fc.Arbitrary<ConfigMap> = fc
  .array(setting, { maxLength: 2 })
  .map((entries) => new Map(entries));

const fields = oftenGood<readonly string[]>(
  fc.constantFrom<readonly string[]>(['word'], ['word', 'count']),
  fc.array(field, { maxLength: 3 }),
);

const output = fc.record({ stream: stream.map(streamName), fields }, PLAIN);

const grouping: fc.Arbitrary<Grouping> = fc.oneof(
  fc.constantFrom<Grouping>(
    { kind: 'shuffle' },
    { kind: 'all' },
    { kind: 'global' },
    { kind: 'direct' },
    { kind: 'local-or-shuffle' },
    { kind: 'none' },
  ),
  fields.map((names): Grouping => ({ kind: 'fields', fields: names })),
);

const input = fc.record(
  {
    component: name.map(componentName),
    stream: stream.map(streamName),
    grouping,
  },
  PLAIN,
);

const base = {
  name: name.map(componentName),
  parallelism: oftenGood(
    fc.constantFrom(1, 2, 5),
    fc.constantFrom(0, -1, 1.5, Number.NaN, Infinity, 1e9, 2 ** 53),
  ),
  language: fc.constant('typescript' as const),
  className: fc.constant('Words'),
  config,
  outputs: oftenGood(
    fc.constant<OutputStream[]>([{ stream: streamName('default'), fields: ['word', 'count'] }]),
    fc.array(output, { maxLength: 2 }),
  ),
};

const spout: fc.Arbitrary<SpoutComponent> = fc.record(
  { kind: fc.constant('spout'), ...base },
  PLAIN,
);
const bolt: fc.Arbitrary<BoltComponent> = fc.record(
  {
    kind: fc.constant('bolt'),
    ...base,
    inputs: fc.array(input, { minLength: 1, maxLength: 2 }),
  },
  PLAIN,
);

/** Spouts first, as everything that reads a topology gives them. */
const components: fc.Arbitrary<readonly Component[]> = fc
  .tuple(fc.array(spout, { maxLength: 2 }), fc.array(bolt, { maxLength: 3 }))
  .map(([spouts, bolts]) => [...spouts, ...bolts]);

export const topologies: fc.Arbitrary<DeclaredTopology> = fc.record(
  {
    name: oftenGood(fc.constant('words'), oddName).map(topologyName),
    config,
    components,
  },
  PLAIN,
);
