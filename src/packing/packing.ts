import type { ComponentName } from '../base/ids.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';

/*
  The port for ways to deal the tasks of a topology to containers. Heron's IPacking and IRepacking
  in one. What holds for each of them, and so for every plan:

  P1. Each task is in one container; no container is empty.
  P2. A container never gets more than its limits, and never more than its tasks and its padding.
      What cannot be packed so is refused, with the numbers and the settings.
  P3. The same topology, plan and request always give the same result.
  P4. A task's index in its component is its position among the component's tasks by id.
  P5. In a repack, a task that stays keeps its id; new tasks get ids above all ids of the plan
      before. Containers keep their ids too, and what is left empty goes.
  P6. A repack moves a task to another container only where a number of containers was asked for,
      and then as few as an even spread allows.
*/

export interface Packed {
  readonly plan: PackingPlan;
  /** One sentence for each thing that the user should know. */
  readonly warnings: readonly string[];
}

/** What a repack is asked for; what is left out stays as it is. */
export interface RepackRequest {
  /** How many tasks a component is to have from now on. */
  readonly parallelism?: ReadonlyMap<ComponentName, number>;
  /** How many worker containers there are to be; only round robin leaves the choice. */
  readonly containers?: number;
}

/**
 * @example
 * ```ts
 * const packing = createPacking(topology.config);
 * const { plan } = packing.pack(topology);
 * const parallelism = new Map([[componentName('count'), 8]]);
 * const { plan: larger } = packing.repack(topology, plan, { parallelism });
 * ```
 */
export interface Packing {
  /**
   * Packs a valid topology.
   *
   * @throws EngineError INVALID_CONFIG when the limits are too small for what is asked.
   */
  pack(topology: LogicalTopology): Packed;

  /**
   * Changes a plan. A request that asks for what is there already gives the same plan.
   *
   * @param topology as it was submitted: its settings hold, and the ratio of its tasks to its
   *   containers; the numbers of tasks are taken from the plan.
   * @throws EngineError INVALID_ARGUMENT when the request makes no sense, INVALID_CONFIG when the
   *   limits are too small for it.
   */
  repack(topology: LogicalTopology, plan: PackingPlan, request: RepackRequest): Packed;

  /**
   * Works the sizes of a plan out anew, whose tasks are part of another plan's.
   *
   * @throws EngineError INVALID_CONFIG when the limits are too small for it.
   */
  resize(topology: LogicalTopology, plan: PackingPlan): PackingPlan;
}
