import type { ComponentName, Epoch, StreamManagerId, TaskId } from '../base/ids.ts';
import { isAdopted } from '../model/adopted-packing.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import type { InstanceAddress, StreamManagerAddress } from '../model/physical-plan.ts';
import {
  type Addresses,
  areSameProcesses,
  byContainer,
  expectedInstances,
  expectedInstancesOf,
  expectedStreamManagers,
  isSameAddress,
  isSamePlacement,
} from './placement.ts';
import { begun, isJoining, withJoining } from './joining-tasks.ts';
import type { Registration } from './registration-decision.ts';

/*
  When a new physical plan is needed, and what is in it. The packing plan says what is wanted; in an
  update it holds what will be and, marked as retiring, what goes. From plan to plan:

    changing   the plan in force is not what the packing plan says, and nothing retires in it.
               When every stream manager serves what the packing plan says → that is the plan
    retiring   tasks of the plan in force are retiring. When they have retired, or their time is
               over → the plan without them, whatever the packing plan says by then
    settling   the plan in force is what the packing plan says but for retiring tasks that have
               gone. When every stream manager works by it → the packing plan without those
    settled    both say the same

  P1. The first plan waits until every expected stream manager has registered.
  P2. A plan that is there, from this incarnation or from one before, is kept until the next one can
      be as the packing plan says: nothing healthy moves, and a stream manager that is away keeps
      its last address.
  P3. Only a changed address makes another plan otherwise. Registering again as before changes
      nothing.
  P4. A task that is retiring leaves the plan once, when it has retired or its time is over. A
      retiring task of the packing plan that the plan in force does not have has left it before.
      One that the packing plan wants to keep all the same, since that was made by somebody who did
      not know yet, is marked as retiring there: it has no input any more, or has ended.
  P5. No task begins whose component has come to the end of its input: those that its tuples go to
      have ended or are about to.
  P6. The phase follows from the two plans alone, so a master that was started again goes on where
      the one before it was.
  P7. A new spout task begins later than its plan (joining-tasks.ts), and nothing leaves the plan
      before that.
  P8. The plan whose tasks have all ended is the last one.
  P9. A packing plan that is marked as about to be in force, and cannot be now, loses the mark:
      another update may take its place. A master that has marked it may have died since.
*/

export interface PlanFacts {
  readonly packing: PackingPlan;
  readonly registered: ReadonlyMap<StreamManagerId, Registration>;
  /** The newest stored plan. */
  readonly current: (Addresses & { readonly epoch: Epoch }) | undefined;
  /** Retiring tasks of which no tuple is left anywhere. */
  readonly retired: ReadonlySet<TaskId>;
  /** True when those that have not retired by now are taken away as they are. */
  readonly isDrainOver: boolean;
  /** By which plan each stream manager says that it works. */
  readonly planEpochs: ReadonlyMap<StreamManagerId, Epoch>;
  /** True when no stream manager is waited for any more that works by an older plan. */
  readonly isAdoptionOver: boolean;
  /** Whether what a component emits can have no effect any more. */
  readonly hasEnded: (component: ComponentName) => boolean;
  /** The same of tasks that came with a plan (P7). */
  readonly hasEndedBefore: (planEpoch: Epoch, component: ComponentName) => boolean;
  readonly isSpout: (component: ComponentName) => boolean;
  /** Whether every task of the current plan has ended. */
  readonly isOver: () => boolean;
}

export type PlanPhase = 'changing' | 'retiring' | 'settling' | 'settled';

export type PlanDecision =
  /** There is no plan, and none can be made: these stream managers are not there. */
  | { readonly kind: 'wait'; readonly missing: readonly StreamManagerId[] }
  /** In phase `changing`, these stream managers do not serve yet what the packing plan says. */
  | {
      readonly kind: 'keep';
      readonly phase: PlanPhase;
      readonly missing: readonly StreamManagerId[];
      /** In phase `changing`, these components get no more tasks: their input has ended. */
      readonly ended: readonly ComponentName[];
    }
  | {
      readonly kind: 'store';
      readonly addresses: Addresses;
      /** True when the plan is the packing plan's, which is to be marked first. */
      readonly isAdoption: boolean;
      /** Retiring tasks that leave the plan although they have not retired. */
      readonly cutShort: readonly InstanceAddress[];
    }
  /** These tasks of the packing plan are retiring, which it does not know (P4). */
  | { readonly kind: 'mark'; readonly tasks: ReadonlySet<TaskId> }
  /** The packing plan is to lose the mark that it is put in force (P9). */
  | { readonly kind: 'unadopt' }
  /** The packing plan is to lose its retiring tasks. */
  | { readonly kind: 'settle' };

/** Pure: what the registrations and reports at hand mean for the plans. */
export function decidePlan(facts: PlanFacts): PlanDecision {
  const { packing, registered, current } = facts;
  if (current === undefined) {
    const missing = notReady(packing, registered);
    if (missing.length > 0) return { kind: 'wait', missing };
    return store(placed(wanted(packing, undefined), registered));
  }
  const phase = phaseOf(current, packing);
  if (facts.isOver()) return keep(phase);
  const beginning = begun(current, facts);
  if (beginning !== undefined) {
    const streamManagers = newestAddresses(current, registered);
    return store({ streamManagers, instances: beginning });
  }
  switch (phase) {
    case 'changing': {
      const missing = notReady(packing, registered);
      const next = wanted(packing, current);
      const ended = endedAmong(next.instances, current, facts.hasEnded);
      if (missing.length > 0 || ended.length > 0) {
        return refreshed(current, registered) ?? givenUp(packing) ?? keep(phase, missing, ended);
      }
      const { streamManagers } = next;
      const instances = withJoining(next.instances, current, facts.isSpout);
      return { ...store(placed({ streamManagers, instances }, registered)), isAdoption: true };
    }
    case 'retiring':
      return (
        unmarked(current, packing) ??
        retire(current, facts) ??
        refreshed(current, registered) ??
        keep(phase)
      );
    case 'settling':
      return (
        refreshed(current, registered) ?? (isWorkedBy(facts) ? { kind: 'settle' } : keep(phase))
      );
    case 'settled':
      return refreshed(current, registered) ?? keep(phase);
  }
}

/** Neither ever changes, and every registration asks again (docs/scale.md). */
const phases = new WeakMap<
  Addresses,
  { readonly packing: PackingPlan; readonly phase: PlanPhase }
>();

/** Pure: where two plans are in an update. */
export function phaseOf(current: Addresses, packing: PackingPlan): PlanPhase {
  const before = phases.get(current);
  if (before?.packing === packing) return before.phase;
  const phase = compare(current, packing);
  phases.set(current, { packing, phase });
  return phase;
}

function compare(current: Addresses, packing: PackingPlan): PlanPhase {
  if (current.instances.some(isRetiring)) return 'retiring';
  const { streamManagers, instances } = wanted(packing, current);
  const planned = new Set(current.streamManagers.map(({ id }) => id));
  const isSame =
    planned.size === streamManagers.length &&
    streamManagers.every((id) => planned.has(id)) &&
    isSamePlacement(current.instances, instances);
  if (!isSame) return 'changing';
  return instances.length < expectedInstances(packing).length ? 'settling' : 'settled';
}

interface Wanted {
  readonly streamManagers: readonly StreamManagerId[];
  readonly instances: readonly InstanceAddress[];
}

/** What the packing plan asks for, without the retiring tasks that have gone (P4). */
function wanted(packing: PackingPlan, current: Addresses | undefined): Wanted {
  const expected = expectedInstances(packing);
  if (current === undefined || !expected.some(isRetiring)) {
    return { streamManagers: expectedStreamManagers(packing), instances: expected };
  }
  const inForce = new Set(current.instances.map(({ id }) => id));
  const instances = expected.filter((each) => !isRetiring(each) || inForce.has(each.id));
  const serving = new Set(instances.map(({ streamManager }) => streamManager));
  const isEmpty = (id: StreamManagerId): boolean => expectedInstancesOf(packing, id)?.length === 0;
  const streamManagers = expectedStreamManagers(packing).filter(
    (id) => serving.has(id) || isEmpty(id),
  );
  return { streamManagers, instances };
}

/** Registrations never change either, and each is asked at each. */
const ready = new WeakMap<
  Registration,
  { readonly packing: PackingPlan; readonly isReady: boolean }
>();

/** The stream managers that are not there, or that serve something else than they should. */
function notReady(
  packing: PackingPlan,
  registered: ReadonlyMap<StreamManagerId, Registration>,
): readonly StreamManagerId[] {
  return expectedStreamManagers(packing).filter((id) => {
    const registration = registered.get(id);
    return registration === undefined || !isReady(registration, packing);
  });
}

function isReady(registration: Registration, packing: PackingPlan): boolean {
  const before = ready.get(registration);
  if (before?.packing === packing) return before.isReady;
  const { address, instances } = registration;
  const isServing = areSameProcesses(expectedInstancesOf(packing, address.id) ?? [], instances);
  ready.set(registration, { packing, isReady: isServing });
  return isServing;
}

function unmarked({ instances }: Addresses, packing: PackingPlan): PlanDecision | undefined {
  const staying = new Set(
    packing.containers.flatMap((container) =>
      container.instances.flatMap((one) => (one.isRetiring === true ? [] : [one.task])),
    ),
  );
  const tasks = instances.filter(isRetiring).map(({ task }) => task);
  const wrong = new Set(tasks.filter((task) => staying.has(task)));
  return wrong.size === 0 ? undefined : { kind: 'mark', tasks: wrong };
}

function retire(current: Addresses, facts: PlanFacts): PlanDecision | undefined {
  const cutShort = current.instances.filter(
    (instance) => isRetiring(instance) && !facts.retired.has(instance.task),
  );
  const isWaiting = cutShort.length > 0 || current.instances.some(isJoining);
  if (isWaiting && !facts.isDrainOver) return undefined;
  const instances = current.instances.filter((instance) => !isRetiring(instance));
  const serving = new Set(instances.map(({ streamManager }) => streamManager));
  const served = new Set(current.instances.map(({ streamManager }) => streamManager));
  const streamManagers = newestAddresses(current, facts.registered).filter(
    ({ id }) => serving.has(id) || !served.has(id),
  );
  const addresses = { streamManagers, instances };
  return { kind: 'store', addresses, isAdoption: false, cutShort };
}

function givenUp(packing: PackingPlan): PlanDecision | undefined {
  return isAdopted(packing) ? { kind: 'unadopt' } : undefined;
}

function isWorkedBy({ current, registered, planEpochs, isAdoptionOver }: PlanFacts): boolean {
  if (isAdoptionOver || current === undefined) return true;
  return current.streamManagers.every(
    ({ id }) => !registered.has(id) || (planEpochs.get(id) ?? 0) >= current.epoch,
  );
}

function placed(
  { streamManagers, instances }: Wanted,
  registered: ReadonlyMap<StreamManagerId, Registration>,
): Addresses {
  const addresses = streamManagers.flatMap((id) => registered.get(id)?.address ?? []);
  return { streamManagers: addresses.toSorted(byContainer), instances };
}

/** The same plan with the addresses of now; undefined when they are those that it has. */
function refreshed(
  current: Addresses,
  registered: ReadonlyMap<StreamManagerId, Registration>,
): PlanDecision | undefined {
  const streamManagers = newestAddresses(current, registered);
  const isUnchanged = current.streamManagers.every((known, index) => {
    const fresh = streamManagers[index];
    return fresh !== undefined && isSameAddress(known, fresh);
  });
  return isUnchanged ? undefined : store({ streamManagers, instances: current.instances });
}

function newestAddresses(
  current: Addresses,
  registered: ReadonlyMap<StreamManagerId, Registration>,
): readonly StreamManagerAddress[] {
  return current.streamManagers.map((known) => registered.get(known.id)?.address ?? known);
}

/** The components of tasks that would begin although the input of their component has ended. */
function endedAmong(
  instances: readonly InstanceAddress[],
  current: Addresses,
  hasEnded: (component: ComponentName) => boolean,
): readonly ComponentName[] {
  const inForce = new Set(current.instances.map(({ task }) => task));
  const begin = instances.filter(({ task }) => !inForce.has(task));
  return [...new Set(begin.map(({ component }) => component))].filter(hasEnded);
}

function keep(
  phase: PlanPhase,
  missing: readonly StreamManagerId[] = [],
  ended: readonly ComponentName[] = [],
): PlanDecision {
  return { kind: 'keep', phase, missing, ended };
}

function store(addresses: Addresses) {
  return { kind: 'store', addresses, isAdoption: false, cutShort: [] } as const;
}

function isRetiring(instance: InstanceAddress): boolean {
  return instance.isRetiring === true;
}
