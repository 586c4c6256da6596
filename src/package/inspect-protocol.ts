import type { ErrorEnvelope } from '../base/errors.ts';
import type { TopologyState } from '../model/logical-topology.ts';

/*
  What the submitting process and the process that inspects a module for it say to each other over
  the child's IPC channel: one request, one answer, the end.
*/

export interface InspectRequest {
  readonly file: string;
  /** The author's file, which errors name. */
  readonly shownAs: string;
  /** Wins over the module's own name. */
  readonly name: string | undefined;
  readonly arguments: readonly string[];
  /** Settings of the submit. */
  readonly config: ReadonlyMap<string, string>;
  /** Settings of the cluster, which the module's own win over. */
  readonly baseConfig: ReadonlyMap<string, string>;
  /** Follows the name in the topology's id. */
  readonly idSuffix: string;
  readonly initialState: TopologyState;
  /** The module's file name in the archive. */
  readonly moduleFile: string;
}

export type InspectAnswer =
  /** The topology as a `.defn` file holds it. */
  | { readonly kind: 'topology'; readonly definition: Uint8Array }
  | { readonly kind: 'failed'; readonly error: ErrorEnvelope };
