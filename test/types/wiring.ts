import { Readable } from 'node:stream';
import {
  BasicBolt,
  Bolt,
  type CustomGrouping,
  fields,
  fromAsyncIterable,
  fromReadable,
  type GroupedStream,
  type SourceStart,
  Spout,
  topology,
  type TopologyContext,
  type Tuple,
} from '../../src/api/index.ts';

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

async function* lines({ signal }: SourceStart): AsyncGenerator<string> {
  while (!signal.aborted) yield await Promise.resolve('line');
}

class ValueReader extends BasicBolt {
  execute(_tuple: Tuple<{ value: string }>): void {}
}

class ByAnything implements CustomGrouping {
  prepare(_context: TopologyContext, _stream: GroupedStream): void {}
  chooseTasks(values: readonly unknown[]): readonly number[] {
    return [values.length];
  }
}

class ByWord implements CustomGrouping<readonly [word: string, position: number, note: object]> {
  prepare(): void {}
  chooseTasks([word, position]: readonly [string, number, object]): readonly number[] {
    return [word.length, position];
  }
}

class ByPosition implements CustomGrouping<readonly [position: number]> {
  prepare(): void {}
  chooseTasks([position]: readonly [number]): readonly number[] {
    return [position];
  }
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
    .allGrouping(split)
    .noneGrouping(split, 'late')
    .localOrShuffleGrouping(typed);
  builder.setBolt('told', () => new Count(), { concurrency: 8 }).directGrouping(split);
  const values = builder.setSpout('values', fromAsyncIterable(lines));
  builder.setBolt('reader', () => new ValueReader()).fieldsGrouping(values, 'value');
  const chunks = builder.setSpout(
    'chunks',
    fromReadable(() => Readable.from(['a'])),
  );
  // @ts-expect-error The chunks are bytes, the bolt reads text.
  builder.setBolt('bytes', () => new ValueReader()).shuffleGrouping(chunks);
  const words = builder.setSpout(
    'words',
    fromAsyncIterable(() => [{ word: 'a' }], { fields: fields<{ word: string }>()('word') }),
  );
  builder.setBolt('word-count', () => new Count()).fieldsGrouping(words, 'word');
  builder.setSpout(
    'wrong',
    // @ts-expect-error The items are no tuples of these fields.
    fromAsyncIterable(() => [{ word: 1 }], { fields: fields<{ word: string }>()('word') }),
  );
  builder.addTaskHook(() => ({ emit: (info) => void info.values.length }));
  builder
    .setBolt('chosen', () => new Count())
    .customGrouping(split, () => new ByAnything())
    .customGrouping(split, () => new ByAnything(), 'late')
    .customGrouping(typed, () => new ByWord())
    .customGrouping(typed, () => ({
      prepare(_context, { targetTasks }): void {
        targetTasks.includes(1);
      },
      chooseTasks: ([word, position]) => [word.length, position],
    }));
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
  // @ts-expect-error A spout is not concurrent.
  builder.setSpout('sentences', () => new Sentences(), { concurrency: 2 });
  // @ts-expect-error There is no such order.
  builder.setBolt('count', () => new Count(), { order: 'random' });
  // @ts-expect-error A hook is made in each task.
  builder.addTaskHook({ emit() {} });
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
  // @ts-expect-error The stream does not have the field 'word'.
  count.directGrouping(sentences);
  // @ts-expect-error The stream does not have the field 'word'.
  count.noneGrouping(sentences);
  // @ts-expect-error The stream does not have the field 'word'.
  count.localOrShuffleGrouping(sentences);
  // @ts-expect-error There is no such stream.
  count.directGrouping(split, 'latest');
  // @ts-expect-error The stream does not have the field 'word'.
  count.customGrouping(sentences, () => new ByAnything());
  // @ts-expect-error A custom grouping is made in each task.
  count.customGrouping(split, new ByAnything());
  // @ts-expect-error The stream's first value is a string.
  count.customGrouping(typed, () => new ByPosition());
  // @ts-expect-error A grouping has to choose.
  count.customGrouping(split, () => ({ prepare() {} }));
});
