import { BasicBolt, Bolt, fields, Spout, topology, type Tuple } from '../../src/api/index.ts';

/*
  Checked by tsc alone; nothing here runs. Each @ts-expect-error is a mistake that the compiler must
  find: when it stops finding one, the comment itself becomes an error.
*/

class Sentences extends Spout.of({ default: ['sentence'] }) {
  nextTuple(): void {}
}

class Split extends BasicBolt.of({ default: ['word'], late: ['word', 'atMs'] }) {
  execute(tuple: Tuple<{ sentence: string }>): void {
    tuple.get('sentence').split(' ');
  }
}

class TypedSplit extends BasicBolt.of({
  default: fields<{ word: string; position: number; note: { text: string } }>()(
    'word',
    'position',
    'note',
  ),
}) {
  execute(_tuple: Tuple<{ sentence: string }>): void {}
}

class Count extends Bolt {
  execute(_tuple: Tuple<{ word: string }>): void {}
}

class CountNumbers extends BasicBolt {
  execute(_tuple: Tuple<{ word: number }>): void {}
}

interface WordAt {
  word: string;
  atMs: number;
}

class EitherReader extends BasicBolt {
  execute(_tuple: Tuple<WordAt | { sentence: string }>): void {}
}

class AnythingReader extends BasicBolt {
  execute(_tuple: Tuple): void {}
}

topology('accepted', (builder, args) => {
  const sentences = builder.setSpout('sentences', () => new Sentences(), {
    parallelism: args.length,
    config: { 'topology.debug': true, 'my.own': 3 },
  });
  const split = builder.setBolt('split', () => new Split()).shuffleGrouping(sentences);
  const typed = builder.setBolt('typed', () => new TypedSplit()).shuffleGrouping(sentences);
  builder
    .setBolt('count', () => new Count())
    .fieldsGrouping(split, 'word')
    .fieldsGrouping(split, ['word', 'atMs'], 'late')
    .fieldsGrouping(typed, ['word', 'position']);
  builder
    .setBolt('either', () => new EitherReader())
    .globalGrouping(split, 'late')
    .globalGrouping(sentences);
  builder
    .setBolt('anything', () => new AnythingReader())
    .allGrouping(sentences)
    .allGrouping(split);
});

topology((builder) => {
  // @ts-expect-error A bolt is no spout.
  builder.setSpout('count', () => new Count());
  // @ts-expect-error A spout is no bolt.
  builder.setBolt('sentences', () => new Sentences());
  // @ts-expect-error A factory makes an instance.
  builder.setSpout('sentences', () => Sentences);
  // @ts-expect-error The class itself is no factory.
  builder.setSpout('sentences', Sentences);
  // @ts-expect-error An engine's setting has a type.
  builder.setConfig({ 'topology.stmgrs': true });
  // @ts-expect-error Settings are plain values.
  builder.setConfig({ 'my.own': () => 1 });

  const sentences = builder.setSpout('sentences', () => new Sentences());
  const split = builder.setBolt('split', () => new Split());
  const typed = builder.setBolt('typed', () => new TypedSplit());
  const count = builder.setBolt('count', () => new Count());
  const countNumbers = builder.setBolt('count-numbers', () => new CountNumbers());

  // @ts-expect-error The stream does not have the field 'sentence'.
  split.shuffleGrouping(split);
  // @ts-expect-error The stream does not have the field 'word'.
  count.shuffleGrouping(sentences);
  // @ts-expect-error The stream does not have the field 'word'.
  count.allGrouping(sentences);
  // @ts-expect-error The stream does not have the field 'word'.
  count.globalGrouping(sentences);
  // @ts-expect-error The field is a string there and a number here.
  countNumbers.shuffleGrouping(typed);
  // @ts-expect-error The field is a string there and a number here.
  countNumbers.fieldsGrouping(typed, 'word');
  // @ts-expect-error There is no such stream.
  count.shuffleGrouping(split, 'latest');
  // @ts-expect-error There is no such field to group by.
  count.fieldsGrouping(split, 'wrod');
  // @ts-expect-error There is no such field to group by in that stream.
  count.fieldsGrouping(split, ['atMs']);
  // @ts-expect-error An object is no key.
  count.fieldsGrouping(typed, 'note');
  // @ts-expect-error A fields grouping needs fields.
  count.fieldsGrouping(split);
  // @ts-expect-error A bolt that emits nothing has no default stream.
  count.shuffleGrouping(countNumbers);
  // @ts-expect-error Sources are not given by name.
  count.shuffleGrouping('split');
  // @ts-expect-error Belongs to a later version.
  count.directGrouping(split);
});
