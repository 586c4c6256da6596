import type { PackingPlan } from '../../model/packing-plan.ts';
import { BoundsChecker } from './bounds-checker.ts';
import type { Checker } from './checker.ts';
import { CommandChecker } from './command-checker.ts';
import { ContentChecker } from './content-checker.ts';
import { ControlChecker, type ControlLimits } from './control-checker.ts';
import { CreditChecker } from './credit-checker.ts';
import { DeathChecker } from './death-checker.ts';
import { DuplicateChecker } from './duplicate-checker.ts';
import { EndOfInputChecker } from './end-of-input-checker.ts';
import { GroupingChecker } from './grouping-checker.ts';
import { KeyChecker } from './key-checker.ts';
import { LeftoverChecker } from './leftover-checker.ts';
import { LossChecker } from './loss-checker.ts';
import { OrderChecker } from './order-checker.ts';
import { OverlapChecker } from './overlap-checker.ts';
import { PlanChecker } from './plan-checker.ts';
import { ShuffleChecker } from './shuffle-checker.ts';
import { PressureChecker } from './pressure-checker.ts';
import { ReasonChecker } from './reason-checker.ts';
import { ReplayChecker } from './replay-checker.ts';
import { SupervisionChecker } from './supervision-checker.ts';
import { TerminalChecker } from './terminal-checker.ts';
import { TreeChecker } from './tree-checker.ts';
import { TreeTimeChecker } from './tree-time-checker.ts';
import { ChangeEffectsChecker } from './change-effects-checker.ts';
import { HangChecker } from './hang-checker.ts';
import { RetirementChecker } from './retirement-checker.ts';
import { UpdateChecker } from './update-checker.ts';
import { isAtLeastOnce, type WorkloadDescription } from '../workload/workload-description.ts';

export interface CheckedRun {
  readonly packing: PackingPlan;
  readonly workload: WorkloadDescription;
  /** Those of the run, over the workload's own. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly control?: Partial<ControlLimits>;
}

/** Everything that is checked in a run, made anew for each. */
export function createCheckers(run: CheckedRun): readonly Checker[] {
  return [...forAll(run), ...(isAtLeastOnce(run.workload) ? atLeastOnce(run) : [])];
}

function atLeastOnce({ workload }: CheckedRun): readonly Checker[] {
  return [
    new TreeChecker(),
    new ReplayChecker(),
    new ReasonChecker(),
    new TreeTimeChecker(workload),
  ];
}

function forAll({
  packing,
  workload,
  settings = {},
  control = {},
}: CheckedRun): readonly Checker[] {
  return [
    new GroupingChecker(),
    new KeyChecker(),
    new ShuffleChecker(),
    new OrderChecker(),
    new DuplicateChecker(),
    new LossChecker(),
    new TerminalChecker(),
    new ContentChecker(),
    new OverlapChecker(),
    new EndOfInputChecker(),
    new BoundsChecker(),
    new ControlChecker(control),
    new CreditChecker(packing),
    new PressureChecker(packing, workload),
    new CommandChecker(),
    new DeathChecker(),
    new PlanChecker(),
    new SupervisionChecker(),
    new LeftoverChecker(),
    new UpdateChecker(),
    new RetirementChecker(),
    new ChangeEffectsChecker(),
    new HangChecker({ ...workload.config, ...settings }),
  ];
}
