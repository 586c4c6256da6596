/* The same job with acks off and on, case by case side by side. */

export interface AckCase {
  /** As the comparison with other engines has it: D is A with acks, and E is C with acks. */
  readonly name: string;
  readonly hasAcks: boolean;
  readonly bolt: 'count' | 'transport';
  /** Tasks of each component. */
  readonly tasks: number;
  readonly containers: number;
  /** Words per second of each spout; 0 = as many as it can. */
  readonly rate: number;
}

const ONE = { tasks: 1, containers: 1, rate: 0 };
const TWO = { tasks: 2, containers: 2, rate: 0 };

export const CASES: readonly AckCase[] = [
  { ...ONE, name: 'A', hasAcks: false, bolt: 'transport' },
  { ...ONE, name: 'D', hasAcks: true, bolt: 'transport' },
  { ...ONE, name: 'A', hasAcks: false, bolt: 'count' },
  { ...ONE, name: 'D', hasAcks: true, bolt: 'count' },
  { ...TWO, name: 'C', hasAcks: false, bolt: 'count' },
  { ...TWO, name: 'E', hasAcks: true, bolt: 'count' },
  { ...ONE, name: 'latency', hasAcks: true, bolt: 'count', rate: 20_000 },
];

/** The case without acks that a case with acks is compared with. */
export function withoutAcks(bench: AckCase): AckCase | undefined {
  return CASES.find(
    (other) =>
      bench.hasAcks &&
      !other.hasAcks &&
      other.bolt === bench.bolt &&
      other.tasks === bench.tasks &&
      other.containers === bench.containers &&
      other.rate === bench.rate,
  );
}
