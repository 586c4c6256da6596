import type { ErrorCode, ErrorDomain } from '../../base/errors.ts';
import type { DeadLetterKind } from '../../model/dead-letter.ts';

/*
  What a Tracker can do to topologies, as far as whoever started it allows. The Tracker knows no way
  to do any of it: it is given one, which does the same as the commands of the same names and so
  keeps their promises (one command at a time for a topology, repeatable after a crash).
*/

/** A topology as commands name it. */
export interface ActionPlace {
  readonly cluster: string;
  readonly role: string;
  readonly environ: string;
  readonly topology: string;
}

export interface UpdateAction {
  readonly kind: 'update';
  readonly componentParallelism: ReadonlyMap<string, number>;
  readonly containerNumber: number | undefined;
  /** `[component:]key:value` each. */
  readonly runtimeConfig: readonly string[];
  /** Only tells what would change. */
  readonly isDryRun: boolean;
  /** Also a change that looks like a slip. */
  readonly force: boolean;
  /** False: done when the change is stored. */
  readonly wait: boolean;
  readonly timeoutSeconds: number;
}

/** Dead letters by their ids, or all that the other members leave. */
export interface LetterChoice {
  readonly ids: readonly string[];
  readonly component: string | undefined;
  readonly reason: DeadLetterKind | undefined;
}

export type TopologyAction =
  | { readonly kind: 'activate' | 'deactivate' }
  | {
      readonly kind: 'restart';
      /** A container's number or a process's name; undefined for all containers. */
      readonly what: string | undefined;
      readonly timeoutSeconds: number;
    }
  | UpdateAction
  | { readonly kind: 'kill'; readonly drain: boolean; readonly timeoutSeconds: number }
  | ({ readonly kind: 'replay-dead-letters'; readonly timeoutSeconds: number } & LetterChoice)
  | ({ readonly kind: 'purge-dead-letters'; readonly timeoutSeconds: number } & LetterChoice);

/** What changes nothing. */
export type TopologyQuestion =
  | {
      readonly kind: 'list-dead-letters';
      readonly component: string | undefined;
      readonly reason: DeadLetterKind | undefined;
      readonly limit: number;
    }
  | { readonly kind: 'show-dead-letters'; readonly ids: readonly string[] };

/** What the command of the same name prints with --json (docs/cli.md), or says of its failure. */
export type ActionOutcome =
  | {
      readonly isDone: true;
      readonly result: object;
      /** What should not be overlooked. */
      readonly warnings: readonly string[];
    }
  | { readonly isDone: false; readonly error: ActionError };

export interface ActionError {
  readonly code: ErrorCode;
  readonly domain: ErrorDomain;
  readonly message: string;
  /** What to do about it. */
  readonly next: string;
  readonly details?: readonly string[];
}

/** Any number may be under way at once. Rejects only for a fault of ours. */
export interface TrackerActions {
  perform(place: ActionPlace, wish: TopologyAction | TopologyQuestion): Promise<ActionOutcome>;
}
