import type { WrittenPlace } from '../place.ts';

/*
  What `heron explore` shows, wherever it comes from: the state store, or a Tracker, ours or
  Heron's.
*/

export interface ExploreSource extends AsyncDisposable {
  clusters(): Promise<readonly string[]>;
  topologies(place: WrittenPlace): Promise<readonly ListedTopology[]>;
  /** @throws EngineError TOPOLOGY_NOT_FOUND, TOPOLOGY_NOT_READY */
  topology(place: WrittenPlace, name: string): Promise<ExploredTopology>;
}

export interface ListedTopology {
  readonly cluster: string;
  readonly role: string;
  readonly environ: string;
  readonly name: string;
}

export interface ExploredTopology {
  logicalPlan(): Promise<LogicalPlan>;
  /** @throws EngineError TOPOLOGY_NOT_READY while there is no physical plan. */
  containers(): Promise<readonly ExploredContainer[]>;
  /** Since the start, of each instance that has told any. */
  metrics(component: ExploredComponent): Promise<readonly InstanceNumbers[]>;
}

export interface LogicalPlan {
  /** Spouts first. */
  readonly components: readonly ExploredComponent[];
}

export interface ExploredComponent {
  readonly type: 'spout' | 'bolt';
  readonly name: string;
  readonly parallelism: number;
  readonly inputs: readonly { readonly component: string; readonly stream: string }[];
  /** Names of streams. */
  readonly streams: readonly string[];
}

export interface ExploredContainer {
  readonly id: number;
  readonly host: string;
  /** Its stream manager's, for others. */
  readonly port: number | null;
  readonly pid: number | null;
  readonly instances: readonly string[];
  readonly spouts: number;
  readonly bolts: number;
}

/** By the names of metrics. */
export interface InstanceNumbers {
  readonly instance: string;
  readonly numbers: ReadonlyMap<string, number>;
}

/** Who reads from a component, each once. */
export function readersOf(name: string, { components }: LogicalPlan): readonly string[] {
  return components
    .filter(({ inputs }) => inputs.some(({ component }) => component === name))
    .map((reader) => reader.name);
}
