import type { Epoch, TopologyId } from '../base/ids.ts';

/*
  Who is the topology master. Each incarnation takes an epoch before it does anything else, and the
  ephemeral node `tmanagers/<topology>` names the one that serves. These are the only rules:

  L1. Of two masters of one topology the one with the higher epoch is right; the other steps down
      as soon as it learns of it.
  L2. A master never takes the node away from a live owner; it waits until that one is gone.
  L3. A node that has vanished is made again by the master that is still there: a lost node, or a
      lost connection to the state manager, does not end a mastership.
*/

/** What the node says; `epoch` is 0 when a master of another implementation wrote it. */
export interface SeenLocation {
  readonly topologyId: TopologyId;
  readonly epoch: Epoch;
}

export interface LocationFacts {
  readonly own: SeenLocation;
  /** Undefined when there is no node, or none with a live owner. */
  readonly seen: SeenLocation | undefined;
  /** True once this incarnation has had the node. */
  readonly isServing: boolean;
}

export type LocationDecision =
  | { readonly kind: 'create' }
  | { readonly kind: 'serve' }
  | { readonly kind: 'wait'; readonly reason: string }
  | { readonly kind: 'step-down'; readonly reason: string };

/** Pure: what the state of the location node means for this incarnation. */
export function decideLocation({ own, seen, isServing }: LocationFacts): LocationDecision {
  if (seen === undefined) return { kind: 'create' };
  if (seen.topologyId !== own.topologyId) {
    // Epochs of different submits cannot be compared. One name has one topology: while this
    // master served, its own was killed and another one submitted.
    const reason = `the name belongs to topology ${seen.topologyId}`;
    return isServing ? { kind: 'step-down', reason } : { kind: 'wait', reason };
  }
  if (seen.epoch === own.epoch) return { kind: 'serve' };
  if (seen.epoch > own.epoch) {
    const reason = `a newer topology master serves: epoch ${seen.epoch}, this one has ${own.epoch}`;
    return { kind: 'step-down', reason };
  }
  return { kind: 'wait', reason: `the topology master of epoch ${seen.epoch} still lives` };
}
