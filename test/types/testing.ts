import { BasicBolt, Bolt, fields, Spout, type Tuple, topology } from '../../src/api/index.ts';
import {
  crashOnce,
  spoutFrom,
  testBolt,
  testSpout,
  testTopology,
} from '../../src/testing/index.ts';
import { type Equal, expectType } from './expect-type.ts';

/*
  Checked by tsc alone; nothing here runs. Each @ts-expect-error is a mistake that the compiler must
  find: when it stops finding one, the comment itself becomes an error.
*/

class Sentences extends Spout.of({ default: fields<{ sentence: string }>()('sentence') }) {
  nextTuple(): void {}
}

class Split extends BasicBolt.of({
  default: fields<{ word: string; position: number }>()('word', 'position'),
  late: ['word'],
}) {
  readonly seen = 0;
  execute(_tuple: Tuple<{ sentence: string; line: number }>): void {}
}

class EitherReader extends Bolt {
  execute(_tuple: Tuple<{ word: string } | { sentence: string; line: number }>): void {}
}

class AnythingReader extends BasicBolt {
  execute(_tuple: Tuple): void {}
}

export async function accepted(): Promise<void> {
  await using split = await testBolt(() => new Split(), { input: ['sentence', 'line'] });
  await split.send({ sentence: 'a b', line: 1 });
  await split.send({ sentence: 'a b', line: 1, source: 'a field that it does not read' });
  await split.sendAll([{ sentence: 'a b', line: 1 }]);
  expectType<Equal<(typeof split)['component'], Split>>();
  const [output] = split.outputs();
  expectType<Equal<typeof output, Readonly<{ word: string; position: number }> | undefined>>();
  const [late] = split.takeOutputs('late');
  expectType<Equal<typeof late, Readonly<{ readonly word: unknown }> | undefined>>();
  const [failed] = split.failed;
  expectType<Equal<typeof failed, (typeof split.failed)[number] | undefined>>();
  expectType<Equal<NonNullable<typeof failed>['values'], { sentence: string; line: number }>>();
  const length = await split.perform(async () => split.component.seen);
  expectType<Equal<typeof length, number>>();

  await using either = await testBolt(() => new EitherReader(), {
    inputs: { words: { default: ['word'] }, lines: { default: ['sentence', 'line'] } },
  });
  await either.send({ word: 'a' }, { source: 'words' });
  await either.send({ sentence: 'a', line: 1 }, { source: 'lines', stream: 'default' });

  await using anything = await testBolt(() => new AnythingReader(), { input: ['a', 'b'] });
  await anything.send({ a: 1, b: new Date() });

  await using spout = await testSpout(() => new Sentences());
  const [sentence] = spout.outputs();
  expectType<Equal<typeof sentence, Readonly<{ sentence: string }> | undefined>>();

  const definition = topology('accepted', () => {});
  await using run = await testTopology(definition, {
    config: { 'topology.stmgrs': 2 },
    components: { sentences: spoutFrom([['a'], crashOnce(), 'b']), split: () => new Split() },
  });
  expectType<Equal<ReturnType<typeof run.components<Split>>, readonly Split[]>>();
}

export async function refused(): Promise<void> {
  // @ts-expect-error A spout is no bolt.
  await testBolt(() => new Sentences());
  // @ts-expect-error A bolt is no spout.
  await testSpout(() => new Split());
  // @ts-expect-error The bolt reads the field 'line' too.
  await testBolt(() => new Split(), { input: ['sentence'] });
  // @ts-expect-error Only what is known can be allowed.
  await testBolt(() => new Split(), { allow: ['sockets'] });
  // @ts-expect-error An engine's setting has a type.
  await testBolt(() => new Split(), { topologyConfig: { 'topology.stmgrs': true } });

  const split = await testBolt(() => new Split(), { input: ['sentence', 'line'] });
  // @ts-expect-error The field 'line' is missing.
  await split.send({ sentence: 'a b' });
  // @ts-expect-error The field is a number.
  await split.send({ sentence: 'a b', line: '1' });
  // @ts-expect-error There is no such stream.
  split.outputs('early');
  // @ts-expect-error There is no such field.
  String(split.outputs()[0]?.count);

  const nothing = await testBolt(() => new AnythingReader());
  // @ts-expect-error A bolt that emits nothing has no stream to name.
  nothing.outputs('default');

  const run = await testTopology(topology('refused', () => {}));
  // @ts-expect-error A component is looked up by its class.
  run.component('split');
  const definition = topology('refused', () => {});
  // @ts-expect-error A class is neither a script nor a factory.
  await testTopology(definition, { components: { split: Split } });
}
