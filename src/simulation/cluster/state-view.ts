import { join } from 'node:path';
import type { TopologyName } from '../../base/ids.ts';
import { type Completion, parseCompletion } from '../../model/completion.ts';
import { type ContainerReport, parseContainerReport } from '../../model/container-report.ts';
import type { PackingPlan } from '../../model/packing-plan.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { paths } from '../../state-manager/paths.ts';
import { decodePackingPlan } from '../../wire/packing-plan.ts';
import { decodePhysicalPlan } from '../../wire/physical-plan.ts';
import { type DiskTree, FileNode, FolderNode } from '../kernel/disk-tree.ts';

/*
  The state tree as an all-seeing observer sees it: from outside of the simulated world, at once,
  and whatever faults the disk has at the moment. Nodes of dead owners are seen, too.
*/

export class StateView {
  readonly #disk: DiskTree;
  readonly #root: string;
  /** Conditions are asked for again and again, and most nodes hardly ever change. */
  readonly #decoded = new Map<string, { readonly bytes: Uint8Array; readonly value: unknown }>();

  constructor(disk: DiskTree, root: string) {
    this.#disk = disk;
    this.#root = root;
  }

  has(path: string): boolean {
    return this.#bytesOf(path) !== undefined;
  }

  completion(name: TopologyName): Completion | undefined {
    return this.#decode(paths.completed(name), parseCompletion);
  }

  physicalPlan(name: TopologyName): PhysicalPlan | undefined {
    return this.#decode(paths.physicalPlan(name), decodePhysicalPlan);
  }

  packingPlan(name: TopologyName): PackingPlan | undefined {
    return this.#decode(paths.packingPlan(name), decodePackingPlan);
  }

  /** Of all containers that have one, whatever plan has them. */
  containerReports(name: TopologyName): readonly ContainerReport[] {
    const folder = paths.containers(name);
    return filesBelow(this.#disk, join(this.#root, folder)).flatMap((file) => {
      const report = this.#decode(file.slice(this.#root.length + 1), parseContainerReport);
      return report === undefined ? [] : [report];
    });
  }

  /** The paths of all nodes but those of the file state manager's own bookkeeping. */
  nodes(): readonly string[] {
    return filesBelow(this.#disk, this.#root)
      .map((file) => file.slice(this.#root.length + 1))
      .filter((path) => !/^\.heron-ts\/(?:owners|locks|temporary)\//.test(path));
  }

  #decode<Value>(path: string, decode: (bytes: Uint8Array) => Value): Value | undefined {
    const bytes = this.#bytesOf(path);
    if (bytes === undefined) return undefined;
    const known = this.#decoded.get(path);
    if (known?.bytes === bytes) return known.value as Value;
    const value = decode(bytes);
    this.#decoded.set(path, { bytes, value });
    return value;
  }

  /** The same object for as long as nobody writes the node. */
  #bytesOf(path: string): Uint8Array | undefined {
    const file = join(this.#root, path);
    if (!this.#disk.exists(file)) return undefined;
    const node = this.#disk.node(file, 'open');
    return node instanceof FileNode ? node.bytes : undefined;
  }
}

/** The paths of all files below a folder, sorted; none when there is no such folder. */
export function filesBelow(disk: DiskTree, folder: string): readonly string[] {
  if (!disk.exists(folder)) return [];
  return disk
    .list(folder)
    .flatMap(([name, node]) => {
      const path = join(folder, name);
      return node instanceof FolderNode ? filesBelow(disk, path) : [path];
    })
    .toSorted();
}
