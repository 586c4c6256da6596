import { faultPlanText } from '../faults/parse-faults.ts';
import type { Mode } from './mode.ts';
import type { Trial } from './shrink.ts';
import type { Problem, Verdict } from './verdict.ts';

/* What a failing seed tells people. Pure. */

export interface FailureFacts {
  /** The run as the seed has it. */
  readonly failed: Verdict;
  /** The smallest that fails in the same way, with what came of it. */
  readonly shrunk: { readonly trial: Trial; readonly verdict: Verdict; readonly runs: number };
  readonly logFile: string;
  /** At most once unless given. */
  readonly mode?: Mode;
  readonly hasChanges?: boolean;
}

/** Of one checker's complaints the first tell what the rest repeat. */
const PROBLEMS_SHOWN_MAX = 12;

export function failureReport({ failed, shrunk, logFile, ...kind }: FailureFacts): string {
  const { seed, faults } = failed;
  const { trial, verdict, runs } = shrunk;
  const lines = [
    `seed ${seed} fails: ${failed.outcome} after ${seconds(failed.simulatedMs)}`,
    ...problemLines(failed.problems),
    `  ${faults.length} faults; with these ${trial.faults.length} it still fails (${runs} runs):`,
    ...trial.faults.map((fault) => `    ${JSON.stringify(fault)}`),
    '  its problems then:',
    ...problemLines(verdict.problems),
    `  event log: ${logFile}`,
    `  replay:    ${replayCommand(seed, kind)}`,
    `  smallest:  ${replayCommand(seed, { ...kind, trial })}`,
  ];
  return lines.join('\n');
}

export interface ReplayedRun extends Pick<FailureFacts, 'mode' | 'hasChanges'> {
  readonly trial?: Trial;
}

/** One command, for a shell. */
export function replayCommand(
  seed: number,
  { mode, hasChanges = false, trial }: ReplayedRun = {},
): string {
  const parts = [`npm run simulate -- --seed ${seed}`];
  if (mode !== undefined) parts.push(`--mode ${mode}`);
  if (hasChanges) parts.push('--changes');
  if (trial !== undefined) parts.push(`--faults ${quoted(faultPlanText(trial.faults))}`);
  if (trial?.workload !== undefined) {
    parts.push(`--workload ${quoted(JSON.stringify(trial.workload))}`);
  }
  return parts.join(' ');
}

export function problemLines(problems: readonly Problem[]): readonly string[] {
  const shown = problems.slice(0, PROBLEMS_SHOWN_MAX);
  const left = problems.length - shown.length;
  return [
    ...shown.map(({ checker, text }) => `    ${checker}: ${text}`),
    ...(left > 0 ? [`    and ${left} more`] : []),
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(3)} simulated seconds`;
}
