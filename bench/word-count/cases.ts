/* The cases of the job, as all engines of this comparison know them. */

export interface BenchCase {
  readonly name: string;
  readonly bolt: 'count' | 'transport' | 'latency';
  /** Tasks of each component. */
  readonly tasks: number;
  readonly containers: number;
  /** Words per second; 0 = as many as it can. */
  readonly rate: number;
}

const SATURATED = [
  { name: 'A', tasks: 1, containers: 1 },
  { name: 'B', tasks: 2, containers: 1 },
  { name: 'C', tasks: 2, containers: 2 },
];

export const CASES: readonly BenchCase[] = [
  ...SATURATED.flatMap((shape) => [
    { ...shape, bolt: 'transport' as const, rate: 0 },
    { ...shape, bolt: 'count' as const, rate: 0 },
  ]),
  { name: 'latency', bolt: 'latency', tasks: 1, containers: 1, rate: 20_000 },
];
