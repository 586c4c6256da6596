import { type ContainerId, containerId, type TopologyName } from '../base/ids.ts';
import { type Completion, parseCompletion } from '../model/completion.ts';
import { type ContainerReport, parseContainerReport } from '../model/container-report.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import { decodePhysicalPlan } from '../wire/physical-plan.ts';

/** What changes of a topology while it lives. */
export interface LiveTopology {
  readonly physicalPlan: PhysicalPlan | undefined;
  readonly reports: readonly ContainerReport[];
  readonly completion: Completion | undefined;
  /** False when its definition is gone, the last of its nodes to go. */
  readonly exists: boolean;
}

/**
 * The record that a topology has completed. Nodes are watched one by one, so its definition may be
 * seen to go before its completion is seen to come: whoever finds it gone asks again here.
 */
export async function readCompletion(
  stateManager: StateManager,
  { name, id }: Pick<LogicalTopology, 'name' | 'id'>,
): Promise<Completion | undefined> {
  const bytes = await stateManager.read(paths.completed(name));
  const completion = bytes === undefined ? undefined : parseCompletion(bytes);
  return completion?.topologyId === id ? completion : undefined;
}

export interface TopologyWatchOptions {
  readonly stateManager: StateManager;
  readonly name: TopologyName;
  readonly packingPlan: PackingPlan;
  readonly onChange: () => void;
}

/**
 * Follows one topology in the state tree. A node that cannot be read leaves what was known
 * standing: the next write makes it good.
 */
export class TopologyWatch implements Disposable {
  readonly #watches: readonly Watch[];
  readonly #reports = new Map<ContainerId, ContainerReport>();
  readonly #onChange: () => void;
  #physicalPlan: PhysicalPlan | undefined;
  #completion: Completion | undefined;
  #exists = true;

  constructor({ stateManager, name, packingPlan, onChange }: TopologyWatchOptions) {
    this.#onChange = onChange;
    const containers = [containerId(0), ...packingPlan.containers.map(({ id }) => id)];
    this.#watches = [
      stateManager.watch(paths.topology(name), (bytes) => {
        this.#exists = bytes !== undefined;
        onChange();
      }),
      this.#follow(stateManager, paths.physicalPlan(name), decodePhysicalPlan, (plan) => {
        this.#physicalPlan = plan;
      }),
      this.#follow(stateManager, paths.completed(name), parseCompletion, (completion) => {
        this.#completion = completion;
      }),
      ...containers.map((id) =>
        this.#follow(stateManager, paths.container(name, id), parseContainerReport, (report) => {
          if (report === undefined) this.#reports.delete(id);
          else this.#reports.set(id, report);
        }),
      ),
    ];
  }

  get now(): LiveTopology {
    return {
      physicalPlan: this.#physicalPlan,
      reports: [...this.#reports.values()],
      completion: this.#completion,
      exists: this.#exists,
    };
  }

  [Symbol.dispose](): void {
    for (const watch of this.#watches) watch.close();
  }

  #follow<Value>(
    stateManager: StateManager,
    path: string,
    decode: (bytes: Uint8Array) => Value,
    take: (value: Value | undefined) => void,
  ): Watch {
    return stateManager.watch(path, (bytes) => {
      try {
        take(bytes === undefined ? undefined : decode(bytes));
      } catch {
        return; // Damaged: see above.
      }
      this.#onChange();
    });
  }
}
