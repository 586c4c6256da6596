import type { StreamManagerId } from '../base/ids.ts';
import type { Counter, MetricsRegistry } from '../metrics/metrics-registry.ts';

/*
  What a stream manager counts, under Heron's names, so that Heron's own tools can read it.
  "Workers" are the instances of this container, "stmgrs" the other stream managers. Tuples are
  counted per destination: one tuple that goes to three tasks counts three times on its way out.
*/

/** Between this stream manager and the instances of its container. */
export class InstanceTraffic {
  readonly tuplesFromInstances: Counter;
  readonly tuplesToInstances: Counter;
  /** Given to an instance whose connection ended before it said that it had consumed them. */
  readonly tuplesToInstancesLost: Counter;
  readonly tuplesFromPeers: Counter;
  readonly bytesFromPeers: Counter;
  /** At most once only foreign instances send them; they mean nothing there. */
  readonly acksFromInstances: Counter;
  readonly failsFromInstances: Counter;
  /** Tuples of a stream that nobody reads, or for a task that the plan does not know. */
  readonly tuplesWithoutDestination: Counter;
  /** For a task that was behind, with `topology.droptuples.upon.backpressure`. */
  readonly tuplesDropped: Counter;

  constructor(metrics: MetricsRegistry) {
    this.tuplesFromInstances = metrics.counter('__server/__tuples_from_workers');
    this.tuplesToInstances = metrics.counter('__server/__tuples_to_workers');
    this.tuplesToInstancesLost = metrics.counter('__server/__tuples_to_workers_lost');
    this.tuplesFromPeers = metrics.counter('__server/__tuples_from_stmgrs');
    this.bytesFromPeers = metrics.counter('__server/__bytes_from_stmgrs');
    this.acksFromInstances = metrics.counter('__server/__ack_tuples_from_workers');
    this.failsFromInstances = metrics.counter('__server/__fail_tuples_from_workers');
    this.tuplesWithoutDestination = metrics.counter('__server/__tuples_without_destination');
    this.tuplesDropped = metrics.counter('__server/__tuples_dropped');
  }
}

/** By field of PeerTraffic; Heron's names have the peer in front. */
const PEER_COUNTERS = {
  tuplesToPeer: '__tuples_to_stmgrs',
  bytesToPeer: '__bytes_to_stmgrs',
  tuplesToPeerLost: '__tuples_to_stmgrs_lost',
  acksToPeer: '__ack_tuples_to_stmgrs',
  failsToPeer: '__fail_tuples_to_stmgrs',
  hellosToPeer: '__hello_messages_to_stmgrs',
} as const;

/** From this stream manager to one other. */
export class PeerTraffic {
  readonly tuplesToPeer: Counter;
  readonly bytesToPeer: Counter;
  /** Under way when the connection ended: at most that many were lost. */
  readonly tuplesToPeerLost: Counter;
  readonly hellosToPeer: Counter;
  /** Of trees that its spouts began; those of one tree in one turn count once. */
  readonly acksToPeer: Counter;
  readonly failsToPeer: Counter;

  constructor(metrics: MetricsRegistry, peer: StreamManagerId) {
    const counter = (name: string): Counter => metrics.counter(peerCounter(peer, name));
    this.tuplesToPeer = counter(PEER_COUNTERS.tuplesToPeer);
    this.bytesToPeer = counter(PEER_COUNTERS.bytesToPeer);
    this.tuplesToPeerLost = counter(PEER_COUNTERS.tuplesToPeerLost);
    this.acksToPeer = counter(PEER_COUNTERS.acksToPeer);
    this.failsToPeer = counter(PEER_COUNTERS.failsToPeer);
    this.hellosToPeer = counter(PEER_COUNTERS.hellosToPeer);
  }
}

/** The peer has left the plan: its counters are published once more. */
export function retirePeerTraffic(metrics: MetricsRegistry, peer: StreamManagerId): void {
  metrics.retire(...Object.values(PEER_COUNTERS).map((name) => peerCounter(peer, name)));
}

function peerCounter(peer: StreamManagerId, name: string): string {
  return `__client_${peer}/${name}`;
}
