/*
  A bolt with two streams: readings that make sense go one way, those that do not the other. Streams
  have fields of their own, and each reader names the stream that it reads.

      heron run local/$USER/dev examples/named-streams.ts named-streams $PWD/readings.txt

  Argument: the file for the result.
*/

import { BasicBolt, fields, Spout, topology, type Tuple } from 'heron-ts';
import { SortedLines } from './sorted-lines.ts';

interface Reading {
  readonly sensor: string;
  readonly celsius: number;
}

const LINES = ['oven 180', 'door 21', 'oven 220', 'attic', 'door 19', 'cellar warm', 'oven 200'];

class Lines extends Spout.of({ default: fields<{ line: string }>()('line') }) {
  #left = LINES.toReversed();

  override nextTuple(): void {
    const line = this.#left.pop();
    if (line === undefined) this.endOfInput();
    else this.emit({ line });
  }
}

class Parse extends BasicBolt.of({
  readings: fields<Reading>()('sensor', 'celsius'),
  rejected: fields<{ line: string; reason: string }>()('line', 'reason'),
}) {
  override execute(tuple: Tuple<{ line: string }>): void {
    const line = tuple.get('line');
    const [sensor = '', text] = line.split(' ');
    if (text === undefined) {
      this.emit('rejected', { line, reason: 'has no value' });
      return;
    }
    const celsius = Number(text);
    if (Number.isNaN(celsius)) this.emit('rejected', { line, reason: 'is not a number' });
    else this.emit('readings', { sensor, celsius });
  }
}

class Average extends BasicBolt.of({ default: fields<Reading>()('sensor', 'celsius') }) {
  readonly #readings = new Map<string, number[]>();

  override execute(tuple: Tuple<Reading>): void {
    const sensor = tuple.get('sensor');
    this.#readings.set(sensor, [...(this.#readings.get(sensor) ?? []), tuple.get('celsius')]);
  }

  override finish(): void {
    for (const [sensor, readings] of this.#readings) {
      const sum = readings.reduce((total, celsius) => total + celsius, 0);
      this.emit({ sensor, celsius: sum / readings.length });
    }
  }
}

export default topology('named-streams', (builder, [result = 'readings.txt']) => {
  const lines = builder.setSpout('lines', () => new Lines());
  const parsed = builder.setBolt('parse', () => new Parse()).shuffleGrouping(lines);
  const averages = builder
    .setBolt('average', () => new Average(), { parallelism: 2 })
    .fieldsGrouping(parsed, 'sensor', 'readings');
  builder
    .setBolt('result', () => new SortedLines(result))
    .globalGrouping(averages)
    .globalGrouping(parsed, 'rejected');
});
