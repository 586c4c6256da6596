import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { runScenario } from '../../../src/simulation/scenario/run-scenario.ts';
import type { Problem } from '../../../src/simulation/scenario/verdict.ts';
import type { Defect } from './defect.ts';

/** One test a defect: one of its seeds finds it, and the checker that should says so. */
export function testDefects(name: string, defects: readonly Defect[]): void {
  suite(name, () => {
    for (const defect of defects) {
      test(`${defect.name} → ${defect.foundBy}`, async () => {
        const said: string[] = [];
        for (const seed of defect.seeds) {
          const problems = await problemsWith(defect, seed);
          if (isFound(defect, problems)) return;
          said.push(`seed ${seed}: ${problems.map(textOf).join('; ') || 'no problem'}`);
        }
        assert.fail(`none of the seeds finds it:\n${said.join('\n')}`);
      });
    }
  });
}

/** What is said of a run with a defect. Nothing of the defect outlasts it. */
export async function problemsWith(defect: Defect, seed: number): Promise<readonly Problem[]> {
  const restore = defect.replace?.();
  try {
    const { mode, hasChanges = false } = defect;
    const request = { seed, hasChanges, ...(mode === undefined ? {} : { mode }) };
    const { problems } = await runScenario(request, defect.interposer?.());
    return problems;
  } finally {
    restore?.();
  }
}

export function isFound({ foundBy }: Defect, problems: readonly Problem[]): boolean {
  return problems.some(({ checker }) => checker === foundBy);
}

function textOf({ checker, text }: Problem): string {
  return `${checker}: ${text}`;
}
