import type { ErrorEnvelope } from '../base/errors.ts';
import type { ProcessIdentity } from '../base/process-identity.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import type { Sample, SampleWish } from '../model/sample.ts';
import type { InstanceIdentity } from './instance-identity.ts';

/*
  What crosses between the two threads of an instance.

  Tuples and metrics go through the rings below, in whole frames. Rare events go by message, as the
  two unions of this file; each side is one exhaustive switch. The story of a life:

    gateway: definition ................. the topology of the .defn file; the task loads its module
    task:    loaded ..................... the module gave the same topology and a component
    gateway: plan ....................... once at registration, then at every change
    task:    started .................... the component is open
    task:    ended ...................... all input has ended and the end marker is in the ring
    gateway: ended-before ............... in place of the first plan: see below
    gateway: stop ....................... orderly end: no further call of user code but close
    task:    stopped .................... close has returned, the rings are flushed
    gateway: (its connections are flushed and closed) done

  A process that is started again after its task has ended hears `ended-before` and makes no
  component: running the input again would count it twice.

  A process whose place another one has taken (row S41) hears `replaced` from its gateway, which has
  closed its connections by then: nothing that it does is accepted any more, so it must not begin
  anything, and not even `close` is called.

  A task that cannot go on sends `failed` in place of any of its events and then only waits for
  `done`.
*/

export type ToTask =
  | {
      readonly kind: 'definition';
      readonly topology: LogicalTopology;
      readonly memory: SharedMemory;
    }
  | { readonly kind: 'plan'; readonly plan: PhysicalPlan }
  | { readonly kind: 'ended-before' }
  /** A tuple set that is too large for the ring; its place is held by a marker frame (R15). */
  | { readonly kind: 'large-set'; readonly bytes: Uint8Array }
  /** Asks whether the event loop turns; the answer is a word in the task's status. */
  | { readonly kind: 'ping'; readonly number: number }
  /** Asks for the next tuples that the task emits; `sample` is the answer. */
  | { readonly kind: 'sample'; readonly number: number; readonly wish: SampleWish }
  | { readonly kind: 'stop' }
  | { readonly kind: 'done' }
  /** In place of everything else. */
  | { readonly kind: 'cannot-start'; readonly error: ErrorEnvelope }
  /** Another process is this instance now: this one ends at once, without another call. */
  | { readonly kind: 'replaced'; readonly error: ErrorEnvelope };

export type ToGateway =
  | { readonly kind: 'loaded' }
  | { readonly kind: 'started' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'large-set'; readonly bytes: Uint8Array }
  /** The component failed, or reported an error, and goes on. */
  | { readonly kind: 'exception'; readonly error: ErrorEnvelope }
  | { readonly kind: 'failed'; readonly error: ErrorEnvelope }
  /** Text says why there is none. */
  | { readonly kind: 'sample'; readonly number: number; readonly sample: Sample | string }
  | { readonly kind: 'stopped' }
  /** The process was told to end: the gateway leads the orderly end. */
  | { readonly kind: 'stop' };

/** What the gateway's thread is started with. */
export interface GatewayStart {
  readonly identity: InstanceIdentity;
  readonly token: string;
  /** The process that both threads belong to. */
  readonly process: ProcessIdentity;
}

/** Made by the gateway, whose topology says how large it is to be. */
export interface SharedMemory {
  /** Gateway → task: tuple sets. */
  readonly dataIn: SharedArrayBuffer;
  /** Task → gateway: tuple sets. */
  readonly dataOut: SharedArrayBuffer;
  /** Task → gateway: metrics. */
  readonly metricsOut: SharedArrayBuffer;
  readonly taskBell: SharedArrayBuffer;
  readonly gatewayBell: SharedArrayBuffer;
  readonly status: SharedArrayBuffer;
}
