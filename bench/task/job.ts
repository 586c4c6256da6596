import { BasicBolt, Spout, topology, type Tuple } from '../../src/api/index.ts';

/* The components of the bench; main.ts says what it measures. */

/** Its words are emitted from outside. */
export class Words extends Spout.of({ default: ['word'] }) {
  acked = 0;

  override nextTuple(): void {}

  override ack(): void {
    this.acked += 1;
  }
}

export class Transport extends BasicBolt.of({}) {
  sum = 0;

  override execute(tuple: Tuple<{ word: string }>): void {
    this.sum += tuple.get('word').length;
  }
}

export class Count extends BasicBolt.of({}) {
  readonly #counts = new Map<string, number>();

  override execute(tuple: Tuple<{ word: string }>): void {
    const word = tuple.get('word');
    this.#counts.set(word, (this.#counts.get(word) ?? 0) + 1);
  }
}

/** words → bolt, one task each. */
export function jobOf(
  words: Words,
  bolt: Transport | Count,
  { hasAcks, hasHistograms }: { readonly hasAcks: boolean; readonly hasHistograms: boolean },
) {
  return topology('task-bench', (builder) => {
    builder.setConfig({ 'topology.metrics.histograms': hasHistograms });
    if (hasAcks) builder.setConfig({ 'topology.reliability.mode': 'ATLEAST_ONCE' });
    const source = builder.setSpout('words', () => words);
    builder.setBolt('bolt', () => bolt).fieldsGrouping(source, 'word');
  }).build();
}
