import type { ComponentName, StreamName, TopologyId, TopologyName } from '../base/ids.ts';

/*
  A topology as its author described it: components, the streams they declare, and who reads which
  stream by which grouping. Immutable data; the `.defn` file is its form on disk.
*/

export type TopologyState = 'RUNNING' | 'PAUSED' | 'KILLED';

/** Settings as Heron keeps them: text by key. `settings.ts` gives them types and defaults. */
export type ConfigMap = ReadonlyMap<string, string>;

/** Which kind of instance runs a component. Only `typescript` ones are made by this package. */
export type ComponentLanguage = 'typescript' | 'java' | 'python' | 'cpp';

export interface OutputStream {
  readonly stream: StreamName;
  /** Field names in the order in which values are sent. */
  readonly fields: readonly string[];
}

export type Grouping =
  | { readonly kind: 'shuffle' }
  | { readonly kind: 'none' }
  /** Shuffle among the tasks in the emitter's container, or among all where it has none. */
  | { readonly kind: 'local-or-shuffle' }
  | { readonly kind: 'all' }
  | { readonly kind: 'global' }
  | { readonly kind: 'fields'; readonly fields: readonly string[] }
  /** The emitting component, or the author's code in it, names the tasks of each tuple. */
  | { readonly kind: 'direct' }
  | { readonly kind: 'custom' };

export interface InputStream {
  readonly component: ComponentName;
  readonly stream: StreamName;
  readonly grouping: Grouping;
}

interface ComponentBase {
  readonly name: ComponentName;
  readonly parallelism: number;
  readonly language: ComponentLanguage;
  /** The name of the class, for people to read. */
  readonly className: string;
  /** The component's own settings; they win over the topology's. */
  readonly config: ConfigMap;
  readonly outputs: readonly OutputStream[];
}

export interface SpoutComponent extends ComponentBase {
  readonly kind: 'spout';
}

export interface BoltComponent extends ComponentBase {
  readonly kind: 'bolt';
  readonly inputs: readonly InputStream[];
}

export type Component = SpoutComponent | BoltComponent;

/**
 * How an instance finds its component again: the bundled module and the arguments of the submit.
 */
export interface TopologyModule {
  /** File name inside the topology's archive. */
  readonly file: string;
  readonly arguments: readonly string[];
}

export interface LogicalTopology {
  readonly id: TopologyId;
  readonly name: TopologyName;
  readonly state: TopologyState;
  readonly config: ConfigMap;
  /** Spouts first, then bolts, each in the order of declaration. */
  readonly components: readonly Component[];
  /** Absent in topologies of other languages. */
  readonly module?: TopologyModule;
}

/** What the author wrote; the rest is added at submit. */
export type DeclaredTopology = Pick<LogicalTopology, 'name' | 'config' | 'components'>;
