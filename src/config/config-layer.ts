import type { ConfigMap } from '../model/logical-topology.ts';

/** A setting as it stands somewhere outside the topology's module. */
export interface ConfigEntry {
  readonly text: string;
  /** Where it stands, for people: `~/.heron/local/all.yaml:3`, `HERON_TOPOLOGY_STMGRS`. */
  readonly origin: string;
}

/** Settings of one kind of origin. */
export interface ConfigLayer {
  readonly entries: ReadonlyMap<string, ConfigEntry>;
  /** One sentence for each thing that cannot hold, with its origin. */
  readonly problems: readonly string[];
  /** One sentence for each thing that was passed over, with its origin. */
  readonly warnings: readonly string[];
}

export function textsOf(entries: ReadonlyMap<string, ConfigEntry>): ConfigMap {
  return new Map(Array.from(entries, ([key, { text }]) => [key, text]));
}
