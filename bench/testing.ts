/*
  Milliseconds of a typical test with `heron-ts/testing`, from its first line to its last: a bolt
  alone, a spout alone, and a topology of three components with five tasks that runs to completion.
  The first of each kind pays for loading and compiling; a test file has one of those. Left out: the
  test runner itself.

  Run: npm run bench -- testing
*/
import { BasicBolt, fields, Spout, topology, type Tuple } from '../src/api/index.ts';
import { spoutFrom, testBolt, testSpout, testTopology } from '../src/testing/index.ts';

const ROUNDS = 41;

class Sentences extends Spout.of({ default: ['sentence'] }) {
  #left = ['the cow jumped over the moon', 'an apple a day'];

  nextTuple(): void {
    const sentence = this.#left.pop();
    if (sentence === undefined) this.endOfInput();
    else this.emit({ sentence });
  }
}

class Split extends BasicBolt.of({ default: ['word'] }) {
  execute(tuple: Tuple<{ sentence: string }>): void {
    for (const word of tuple.get('sentence').split(' ')) this.emit({ word });
  }
}

class Count extends BasicBolt.of({
  default: fields<{ word: string; count: number }>()('word', 'count'),
}) {
  readonly #counts = new Map<string, number>();

  execute(tuple: Tuple<{ word: string }>): void {
    const word = tuple.get('word');
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }

  override finish(): void {
    for (const [word, count] of this.#counts) this.emit({ word, count });
  }
}

const wordCount = topology('word-count', (builder) => {
  const sentences = builder.setSpout('sentences', () => new Sentences());
  const words = builder
    .setBolt('split', () => new Split(), { parallelism: 2 })
    .shuffleGrouping(sentences);
  builder.setBolt('count', () => new Count(), { parallelism: 2 }).fieldsGrouping(words, 'word');
});

const TESTS: Readonly<Record<string, () => Promise<void>>> = {
  'a bolt alone': async () => {
    await using bolt = await testBolt(() => new Count(), { input: ['word'] });
    await bolt.sendAll([{ word: 'cow' }, { word: 'moon' }, { word: 'cow' }]);
    await bolt.finish();
    check(bolt.outputs().length, 2);
  },
  'a spout alone': async () => {
    await using spout = await testSpout(() => new Sentences());
    await spout.untilEndOfInput();
    check(spout.outputs().length, 2);
  },
  'a topology': async () => {
    await using run = await testTopology(wordCount, {
      components: { sentences: spoutFrom(['a b', 'b c', 'c d']) },
    });
    await run.toCompletion();
    check(run.outputs('split').length, 6);
  },
};

for (const [name, test] of Object.entries(TESTS)) {
  const cpuBefore = process.cpuUsage();
  const [first = 0, ...others] = await timesOf(test);
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuMs = (user + system) / 1000 / ROUNDS;
  const sorted = others.toSorted((a, b) => a - b);
  const median = sorted[sorted.length >> 1] ?? 0;
  const slow = sorted[Math.floor(sorted.length * 0.9)] ?? 0;
  console.log(
    `${name.padEnd(16)} median ${ms(median)}   one in ten above ${ms(slow)}   first ${ms(first)}` +
      `   CPU ${ms(cpuMs)}`,
  );
}

async function timesOf(test: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const startedAt = performance.now();
    await test();
    times.push(performance.now() - startedAt);
  }
  return times;
}

function ms(time: number): string {
  return `${time.toFixed(1).padStart(6)} ms`;
}

function check(found: number, expected: number): void {
  if (found !== expected) throw new Error(`expected ${expected} tuples, found ${found}`);
}
