import type { StateManager } from '../../state-manager/state-manager.ts';

/** A cluster that a Tracker looks at. */
export interface TrackedCluster {
  /** As people know it; unique among those of a Tracker. */
  readonly name: string;
  /** Where its state tree is, for people; holds no secret. */
  readonly address: string;
  /** Undefined when it cannot even be opened: `problem` then says why. */
  readonly stateManager: StateManager | undefined;
  readonly problem?: string;
  /**
   * How its nodes are followed. `looks`: all are read once a second, in one pass; for stores in
   * files, where a watch on each of thousands of nodes would cost more. `watches`: the store tells.
   */
  readonly following: 'looks' | 'watches';
}
