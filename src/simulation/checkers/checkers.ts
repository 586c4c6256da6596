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
import { SupervisionChecker } from './supervision-checker.ts';

export interface CheckedRun {
  readonly packing: PackingPlan;
  readonly control?: Partial<ControlLimits>;
}

/** Everything that is checked in a run without acks, made anew for each run. */
export function createCheckers({ packing, control = {} }: CheckedRun): readonly Checker[] {
  return [
    new GroupingChecker(),
    new KeyChecker(),
    new ShuffleChecker(),
    new OrderChecker(),
    new DuplicateChecker(),
    new LossChecker(),
    new ContentChecker(),
    new OverlapChecker(),
    new EndOfInputChecker(),
    new BoundsChecker(),
    new ControlChecker(control),
    new CreditChecker(packing),
    new CommandChecker(),
    new DeathChecker(),
    new PlanChecker(),
    new SupervisionChecker(),
    new LeftoverChecker(),
  ];
}
