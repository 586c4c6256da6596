import type { Verdict } from '../../src/simulation/scenario/verdict.ts';
import { aWorkload } from './workload-descriptions.ts';

/** A run that has passed, unless there are problems. */
export function aVerdict(changes: Partial<Verdict> = {}): Verdict {
  const { problems = [] } = changes;
  return {
    seed: 7,
    passed: problems.length === 0,
    problems,
    faults: [],
    workload: aWorkload(),
    outcome: 'completed',
    simulatedMs: 12_345,
    events: 1,
    logHash: 'none',
    log: undefined,
    stateDump: undefined,
    ...changes,
  };
}
