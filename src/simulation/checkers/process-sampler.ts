import { Gateway } from '../../instance/gateway/gateway.ts';
import { InstanceProcess } from '../../instance/instance-process.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { StreamManager } from '../../stream-manager/stream-manager.ts';
import { TopologyMaster } from '../../topology-master/topology-master.ts';
import type { WorkloadDescription } from '../workload/workload-description.ts';
import type { Measure, SimulationEvent } from './checker.ts';
import { HoldingsMeasurer } from './measures.ts';

/** A living process: what its main function returned, and for an instance its second thread. */
export interface SampledProcess {
  readonly name: string;
  readonly pid: number;
  readonly object: object | undefined;
  /** Only one that runs can have noticed what time it is. */
  readonly state?: string;
  readonly gateway?: object | undefined;
}

export interface ProcessSamplerOptions {
  readonly workload: WorkloadDescription;
  readonly tell: (event: SimulationEvent) => void;
  /** Looks that follow sooner are left out. */
  readonly periodMs: number;
}

/**
 * Looks at the public getters of the processes' own objects, and tells checkers what plans they
 * work by and what they hold. Changes nothing.
 */
export class ProcessSampler {
  readonly #options: ProcessSamplerOptions;
  #nextMs = 0;
  /** By all plans that any stream manager has had, which say what may be held. */
  #measurer: HoldingsMeasurer | undefined;
  #plan: PhysicalPlan | undefined;

  constructor(options: ProcessSamplerOptions) {
    this.#options = options;
  }

  look(processes: readonly SampledProcess[], nowMs: number): void {
    if (nowMs < this.#nextMs) return;
    this.#nextMs = nowMs + this.#options.periodMs;
    for (const process of processes) {
      const { object } = process;
      if (object instanceof StreamManager || object instanceof TopologyMaster) {
        this.#tellPlan(process, object.plan, nowMs);
      }
      if (object instanceof StreamManager) this.#tellPressure(process, object, nowMs);
      const measures = this.#measure(process);
      if (measures === undefined) continue;
      const held = measures.filter(({ bytes }) => bytes > 0);
      this.#options.tell({ kind: 'measures', atMs: nowMs, process: process.name, measures: held });
    }
  }

  #tellPlan({ name, pid }: SampledProcess, plan: PhysicalPlan | undefined, atMs: number): void {
    if (plan === undefined) return;
    this.#options.tell({ kind: 'plan', atMs, process: name, pid, plan });
    const all = this.#plan === undefined ? plan : withAllOf(this.#plan, plan);
    if (all === this.#plan) return;
    this.#plan = all;
    this.#measurer = new HoldingsMeasurer({ plan: all, workload: this.#options.workload });
  }

  /** Before there is a plan nobody knows which spouts there are. */
  #tellPressure({ name, pid, state }: SampledProcess, manager: StreamManager, atMs: number): void {
    if (manager.plan === undefined || state === 'paused') return;
    const { backPressure: view, liveTrees } = manager;
    this.#options.tell({ kind: 'pressure', atMs, process: name, pid, view, liveTrees });
  }

  /** Undefined for what holds no data, and before there is a plan. */
  #measure({ name, object, gateway }: SampledProcess): readonly Measure[] | undefined {
    const measurer = this.#measurer;
    if (measurer === undefined) return undefined;
    if (object instanceof StreamManager) return measurer.ofStreamManager(name, object.holdings);
    if (!(object instanceof InstanceProcess)) return undefined;
    return measurer.ofInstance(object.identity.component, {
      waitingBytes: gateway instanceof Gateway ? gateway.waitingBytes : 0,
      keptBytes: object.task.keptBytes,
    });
  }
}

/** The first plan with the tasks and stream managers of another; itself when it has them all. */
function withAllOf(known: PhysicalPlan, plan: PhysicalPlan): PhysicalPlan {
  const { streamManagers, instances } = known;
  const isNewManager = ({ id }: { readonly id: string }): boolean =>
    streamManagers.every((one) => one.id !== id);
  const isNew = ({ id }: { readonly id: string }): boolean =>
    instances.every((one) => one.id !== id);
  if (!plan.instances.some(isNew) && !plan.streamManagers.some(isNewManager)) return known;
  return {
    ...known,
    streamManagers: [...streamManagers, ...plan.streamManagers.filter(isNewManager)],
    instances: [...instances, ...plan.instances.filter(isNew)],
  };
}
