import { type ContainerId, containerId, type TopologyName } from '../../base/ids.ts';
import { type ContainerReport, parseContainerReport } from '../../model/container-report.ts';
import {
  ABSENT,
  afterLook,
  type FoundNode,
  type KnownNode,
  type KnownNodes,
  NODE_KINDS,
  NODES,
  type NodeAddress,
  type NodeKind,
} from './stored-node.ts';
import type { Registration, TopologyView } from './topology-view.ts';
import { viewOf } from './view-of.ts';

/**
 * One topology while it is followed: takes what is found at its nodes, one after the other, and
 * gives a new view when something has changed.
 */
export class TrackedTopology {
  readonly name: TopologyName;
  readonly #trackedCluster: string;
  readonly #reports = new Map<ContainerId, KnownNode<ContainerReport>>();
  readonly #nodes: KnownNodes = {
    topology: ABSENT,
    packingPlan: ABSENT,
    execution: ABSENT,
    physicalPlan: ABSENT,
    master: ABSENT,
    metricsCache: ABSENT,
    scheduler: ABSENT,
    completion: ABSENT,
    drain: ABSENT,
    token: ABSENT,
  };
  readonly #awaited = new Set<NodeAddress>(NODE_KINDS);
  #isShown = false;
  #registration: Registration | undefined;
  #view: TopologyView | undefined;

  constructor(trackedCluster: string, name: TopologyName) {
    this.#trackedCluster = trackedCluster;
    this.name = name;
  }

  /** The nodes to look at. They depend on the packing plan: each of its containers reports. */
  get wanted(): readonly NodeAddress[] {
    return [...NODE_KINDS, ...this.#containers()];
  }

  /** False until enough has been read: half of a healthy topology looks like a sick one. */
  get isShown(): boolean {
    return this.#isShown;
  }

  /** Not all of its nodes may be there to be read: it is shown as it is known. */
  show(): void {
    this.#isShown = true;
  }

  get token(): string | undefined {
    return this.#nodes.token.value;
  }

  get view(): TopologyView {
    this.#view ??= viewOf(this.#trackedCluster, this.name, {
      ...this.#nodes,
      reports: this.#reports,
      registration: this.#registration,
    });
    return this.#view;
  }

  /** What its topology master says. True when this changed what is known. */
  tell(registration: Registration | undefined): boolean {
    if (JSON.stringify(registration) === JSON.stringify(this.#registration)) return false;
    this.#registration = registration;
    this.#view = undefined;
    return true;
  }

  /** True when this changed what is known. */
  take(address: NodeAddress, found: FoundNode): boolean {
    const isNew =
      typeof address === 'number'
        ? this.#takeReport(address, found)
        : this.#takeNode(address, found);
    if (isNew) this.#view = undefined;
    if (this.#isShown) return isNew;
    this.#awaited.delete(address);
    this.#isShown = this.#awaited.size === 0;
    return isNew || this.#isShown;
  }

  #takeNode(kind: NodeKind, found: FoundNode): boolean {
    const before: KnownNode<unknown> = this.#nodes[kind];
    const decode: (bytes: Uint8Array) => unknown = NODES[kind].decode;
    const after = afterLook(before, found, decode);
    // The compiler does not see that a kind's decoder makes that kind's value.
    Object.assign(this.#nodes, { [kind]: after });
    if (kind === 'packingPlan' && after !== before) this.#replan();
    return after !== before;
  }

  #takeReport(container: ContainerId, found: FoundNode): boolean {
    const before = this.#reports.get(container) ?? ABSENT;
    const after = afterLook(before, found, parseContainerReport);
    if (after === ABSENT) this.#reports.delete(container);
    else this.#reports.set(container, after);
    return after !== before;
  }

  #replan(): void {
    const wanted = new Set(this.#containers());
    for (const container of wanted) this.#awaited.add(container);
    for (const container of this.#reports.keys()) {
      if (!wanted.has(container)) this.#reports.delete(container);
    }
  }

  #containers(): readonly ContainerId[] {
    const { value } = this.#nodes.packingPlan;
    return value === undefined ? [] : [containerId(0), ...value.containers.map(({ id }) => id)];
  }
}
