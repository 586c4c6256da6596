import type { Clock } from '../base/clock.ts';
import type { Epoch, TopologyName } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { MachineTime } from '../base/machine-time.ts';
import type { Incident } from '../model/completion.ts';
import type {
  EarlyEnd,
  FirstPlan,
  InstanceAddress,
  MasterNotes,
  StreamManagerAddress,
} from '../model/physical-plan.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import { notesFromMessage } from '../wire/physical-plan.ts';
import {
  carriesData,
  cutShortIncidents,
  earlyEndsOf,
  incidentsOf,
  replacedProcesses,
} from './completion-decision.ts';
import { readContainerReports } from './container-reports.ts';
import type { Addresses } from './placement.ts';
import type { StoredPlan } from './plan-store.ts';

/*
  What a topology's plans remember for its end: when data began to flow, what had ended before it
  could have had any, and what befell processes that are in no plan any more. Each plan repeats it,
  for masters that come later.
*/

export interface PlanHistoryOptions {
  readonly stateManager: StateManager;
  readonly clock: Clock;
  readonly machineTime: () => MachineTime;
  readonly logger: Logger;
  readonly topologyName: TopologyName;
  readonly masterEpoch: Epoch;
  /** Instances that stream managers have lost, as far as this incarnation knows. */
  readonly lost: () => readonly Incident[];
}

/** A plan that takes the place of the stored one. */
export interface NextPlan {
  /** Undefined for the first one. */
  readonly before: StoredPlan | undefined;
  readonly isFirst: boolean;
  readonly addresses: Addresses;
  readonly cutShort: readonly InstanceAddress[];
}

export class PlanHistory {
  readonly #options: PlanHistoryOptions;
  readonly #stored: () => StoredPlan | undefined;
  /** At most one a process: the first is what a person wants to know. */
  readonly #replaced = new Map<string, Incident>();
  /** When it was in force, if this incarnation made it. */
  #ownFirstPlan: FirstPlan | undefined;

  constructor(options: PlanHistoryOptions, stored: () => StoredPlan | undefined) {
    this.#options = options;
    this.#stored = stored;
  }

  /**
   * By the wall clock, whichever incarnation made the first plan. When that clock has been set back
   * since, so much earlier: reports of what came after the plan may carry such times. 0 when nobody
   * can tell: before the first plan, and when an incarnation on another machine, or before this one
   * was started again, has made it.
   */
  get firstPlanAtMs(): number {
    const { clock, machineTime } = this.#options;
    const firstPlan = this.#ownFirstPlan ?? this.#notes?.firstPlan;
    const { bootId, ms } = machineTime();
    if (firstPlan?.machine.bootId !== bootId) return 0;
    return Math.min(firstPlan.wallMs, clock.wallNow() - (ms - firstPlan.machine.ms));
  }

  /** What had ended before the plan that it is in, whichever incarnation made that. */
  get earlyEnds(): readonly EarlyEnd[] {
    return this.#notes?.earlyEnds ?? [];
  }

  /** Of processes that updates have taken away. */
  get pastIncidents(): readonly Incident[] {
    return this.#notes?.pastIncidents ?? [];
  }

  /** When the tasks that are retiring in the stored plan began to. */
  get retiringSinceMs(): number | undefined {
    return this.#notes?.retiringSinceMs;
  }

  /** Stream managers that this incarnation saw come back as another process. */
  get replaced(): readonly Incident[] {
    return [...this.#replaced.values()];
  }

  noteReplaced(before: Addresses, after: StreamManagerAddress): void {
    const nowMs = this.#options.clock.wallNow();
    for (const incident of replacedProcesses(before.streamManagers, [after], nowMs)) {
      if (!this.#replaced.has(incident.process)) this.#replaced.set(incident.process, incident);
    }
  }

  /**
   * What the next plan has to remember.
   *
   * @throws EngineError what the state manager says.
   */
  async notesFor(next: NextPlan): Promise<MasterNotes> {
    const { clock, masterEpoch } = this.#options;
    const firstPlan = next.isFirst ? this.#now() : this.#notes?.firstPlan;
    const isRetiring = next.addresses.instances.some((instance) => instance.isRetiring === true);
    return {
      masterEpoch,
      ...(await this.#endsBy(next)),
      ...(firstPlan !== undefined && { firstPlan }),
      ...(isRetiring && { retiringSinceMs: this.retiringSinceMs ?? clock.wallNow() }),
    };
  }

  /** Later than what is stored: what has ended meanwhile had no tuples either. */
  noteFirstPlan(): void {
    this.#ownFirstPlan = this.#now();
  }

  async #endsBy({
    before,
    isFirst,
    addresses,
    cutShort,
  }: NextPlan): Promise<Pick<MasterNotes, 'earlyEnds' | 'pastIncidents'>> {
    const { earlyEnds, pastIncidents } = this;
    const [old, now] = [namesIn(before?.plan), namesIn(addresses)];
    const gone = [...old].filter((name) => !now.has(name));
    const isNew = (name: string): boolean => isFirst || (now.has(name) && !old.has(name));
    // A plan that is made again in place of a damaged one knows nothing of what was before.
    const isUpdate = before !== undefined && (gone.length > 0 || [...now].some(isNew));
    if (!isFirst && !isUpdate) return { earlyEnds, pastIncidents };
    const reports = await readContainerReports(this.#options);
    const facts = { firstPlanAtMs: this.firstPlanAtMs, earlyEnds };
    const seen = [
      ...reports.flatMap((report) => incidentsOf(report, facts)),
      ...cutShortIncidents(cutShort, this.#options.clock.wallNow()),
      ...this.#options.lost(),
      ...this.replaced,
    ];
    const lost = gone.flatMap((name) => seen.find(({ process }) => process === name) ?? []);
    return {
      earlyEnds: [...earlyEnds, ...earlyEndsOf(reports).filter(({ process }) => isNew(process))],
      pastIncidents: [...pastIncidents, ...lost],
    };
  }

  get #notes(): MasterNotes | undefined {
    const stored = this.#stored();
    return stored && notesFromMessage(stored.message);
  }

  #now(): FirstPlan {
    const { clock, machineTime } = this.#options;
    return { wallMs: clock.wallNow(), machine: machineTime() };
  }
}

/** Of the processes that carry data by a plan. */
function namesIn(plan: Addresses | undefined): ReadonlySet<string> {
  const names = [...(plan?.streamManagers ?? []), ...(plan?.instances ?? [])].map(({ id }) => id);
  return new Set(names.filter(carriesData));
}
