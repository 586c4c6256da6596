import { parseArgs } from 'node:util';
import type { Window } from './run-job.ts';

/*
  Cases of the common job, each several times and in turn, so that what else the machine does meets
  all of them alike. The flags are those of every bench of this kind:

      [--runs 5] [--warm-up 15] [--measure 20] [--only A,B] [--bolt count] [--json]
*/

interface NamedCase {
  readonly name: string;
  readonly bolt: string;
}

export interface Interleaved<Case, Run> {
  readonly results: ReadonlyMap<Case, readonly Run[]>;
  /** `--json` was given. */
  readonly asJson: boolean;
}

/** Runs those cases that the flags leave; `inWords` is what is said of each run. */
export async function runInterleaved<Case extends NamedCase, Run>(
  cases: readonly Case[],
  runCase: (bench: Case, window: Window) => Promise<Run>,
  inWords: (run: Run) => string,
): Promise<Interleaved<Case, Run>> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '5' },
      'warm-up': { type: 'string', default: '15' },
      measure: { type: 'string', default: '20' },
      only: { type: 'string' },
      bolt: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const wanted = cases.filter(
    ({ name, bolt }) =>
      (values.only === undefined || values.only.split(',').includes(name)) &&
      (values.bolt === undefined || values.bolt === bolt),
  );
  const window = {
    warmUpSeconds: Number(values['warm-up']),
    measuredSeconds: Number(values.measure),
  };
  const results = new Map<Case, Run[]>(wanted.map((bench) => [bench, []]));
  for (let run = 1; run <= Number(values.runs); run += 1) {
    for (const [bench, runs] of results) {
      const result = await runCase(bench, window);
      runs.push(result);
      console.error(`run ${run}: ${bench.name} ${bench.bolt}: ${inWords(result)}`);
    }
  }
  return { results, asJson: values.json };
}

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export function spread(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((left, right) => left - right);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  return { min: at(0), median: at(Math.floor(sorted.length / 2)), max: at(sorted.length - 1) };
}
