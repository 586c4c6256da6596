import type { Clock, Timer } from '../base/clock.ts';
import { assertDefined } from '../base/assert.ts';
import { environmentError, type EngineError } from '../base/errors.ts';
import {
  type ContainerId,
  containerOfStreamManager,
  epoch,
  type Epoch,
  type StreamManagerId,
  streamManagerId,
} from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { MetricsRegistry } from '../metrics/metrics-registry.ts';
import type { StreamManagerAddress } from '../model/physical-plan.ts';
import { broadcast } from '../net/broadcast.ts';
import { ReconnectingClient } from '../net/client.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { Network } from '../net/network.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import type { LinkWatch } from '../supervision/link-watch.ts';
import type { Packet } from '../wire/frame.ts';
import {
  Hello,
  LinkBeat,
  StartBackPressure,
  StatusCode,
  StopBackPressure,
  type ValueOf,
} from '../wire/messages.ts';
import { TUPLE_STREAM_TYPE } from '../wire/tuple-stream-message.ts';
import { hasMoved, refusalOfHello } from './hello.ts';
import type { Membership } from './membership.ts';
import { PeerLink } from './peer-link.ts';
import {
  type PressureSender,
  type PressureSignal,
  startMessage,
  startSignal,
  stopMessage,
  stopSignal,
} from './pressure-signal.ts';
import { PeerTraffic, retirePeerTraffic } from './traffic-metrics.ts';

type HelloRequest = ValueOf<typeof Hello.request>;
type HelloResponse = ValueOf<typeof Hello.response>;

/** Longer than a busy stream manager needs to answer; the peer is then dialled again. */
const HELLO_TIMEOUT_MS = 5_000;

/**
 * How long a peer that has left the plan may keep its link: more than executors need to see that
 * and to end it, as a rule milliseconds.
 */
const PARTING_MS_MAX = 10_000;

/** The part of a plan that links need. */
export interface Neighbourhood {
  readonly epoch: Epoch;
  readonly streamManagers: readonly StreamManagerAddress[];
}

export interface PeerEvents {
  onLinkUp(link: PeerLink): void;
  onLinkDown(link: PeerLink, reason: EngineError): void;
  onStreamMessage(link: PeerLink, packet: Packet): void;
  onPressure(link: PeerLink, signal: PressureSignal): void;
}

export interface PeerLinksOptions {
  readonly own: Membership;
  readonly ownId: StreamManagerId;
  readonly ownContainer: ContainerId;
  readonly network: Network;
  readonly packetBytesMax: number;
  readonly reconnectIntervalMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly events: PeerEvents;
  /** Ends links that have gone silent. */
  readonly watch: LinkWatch;
}

/**
 * The mesh: one link with every other stream manager of the plan. Of each pair, the one in the
 * container with the smaller id dials and says hello; the other one answers. Then tuples and credit
 * go both ways until the connection ends, and the same one dials again, to where the plan in force
 * says.
 *
 * L1. One link a peer at most. A newer one ends the older: a peer that dials again has lost it.
 * L2. No address of an older plan is dialled, and a peer that left the plan is not dialled at all.
 *     Its link stays until the peer ends it, which it does with its process, within bounds: acks of
 *     its last tuples may still be in it, and to close a link is to read no more.
 * L3. A stream manager that has left the plan itself ends no link: to others, who may not know yet,
 *     that would be the loss of a peer.
 */
export class PeerLinks {
  /** For connections that others dial. */
  readonly handlers: MessageHandlers;
  readonly #options: PeerLinksOptions;
  readonly #links = new Map<StreamManagerId, PeerLink>();
  readonly #linkByConnection = new Map<PacketConnection, PeerLink>();
  /** Links of which the events have told. */
  readonly #up = new Set<PeerLink>();
  readonly #clients = new Map<StreamManagerId, ReconnectingClient>();
  /** Links with peers that have left the plan, until they end (L2). */
  readonly #parting = new Map<PeerLink, Timer>();
  #plan: Neighbourhood | undefined;
  #pressureMessages = 0;

  constructor(options: PeerLinksOptions) {
    this.#options = options;
    this.handlers = this.#linkHandlers().onRequest(Hello, (request, connection) =>
      this.#handleHello(request, connection),
    );
  }

  /** True while every other stream manager of the plan is linked with this one. */
  get areAllUp(): boolean {
    return (
      this.#plan !== undefined &&
      this.#plan.streamManagers.every(
        ({ id }) => id === this.#options.ownId || this.linkWith(id) !== undefined,
      )
    );
  }

  linkWith(peer: StreamManagerId): PeerLink | undefined {
    const link = this.#links.get(peer);
    return link !== undefined && this.#up.has(link) ? link : undefined;
  }

  /** Tells every linked stream manager about back pressure. */
  announce(signal: PressureSignal): void {
    const connections = Array.from(this.#links.values(), ({ connection }) => connection);
    if (signal.kind === 'stop') {
      broadcast(connections, StopBackPressure, stopMessage(signal, this.#sender()));
    } else broadcast(connections, StartBackPressure, startMessage(signal, this.#sender()));
  }

  /** Tells one of them. */
  tell({ connection }: PeerLink, signal: PressureSignal): void {
    if (signal.kind === 'stop') {
      connection.send(StopBackPressure, stopMessage(signal, this.#sender()));
    } else connection.send(StartBackPressure, startMessage(signal, this.#sender()));
  }

  /** A newer plan is in force: dials its new addresses, leaves the old ones. */
  update(plan: Neighbourhood): void {
    const before = this.#plan;
    this.#plan = plan;
    this.#closeStaleLinks(before, plan);
    for (const { id } of before?.streamManagers ?? []) {
      const hasLeft = !plan.streamManagers.some((address) => address.id === id);
      if (hasLeft && !this.#links.has(id)) retirePeerTraffic(this.#options.metrics, id);
    }
    const isDialled = ({ id }: StreamManagerAddress): boolean =>
      assertDefined(containerOfStreamManager(id), `${id} is a stream manager`) >
      this.#options.ownContainer;
    const dialled = plan.streamManagers.filter(isDialled);
    for (const id of this.#clients.keys()) {
      if (!dialled.some((address) => address.id === id)) this.#dialNoMore(id);
    }
    for (const { id, host, dataPort } of dialled) {
      const client = this.#clients.get(id) ?? this.#createClient(id);
      this.#clients.set(id, client);
      client.retarget({ host, port: dataPort });
    }
  }

  /** A plan is in force that does without this stream manager (L3). */
  leave(): void {
    for (const id of this.#clients.keys()) this.#dialNoMore(id);
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
    for (const { connection } of this.#links.values()) connection.close();
  }

  /** Links of peers that have left the plan (L2) or dialled from where they are no more (H3). */
  #closeStaleLinks(before: Neighbourhood | undefined, plan: Neighbourhood): void {
    for (const link of this.#links.values()) {
      const now = plan.streamManagers.find(({ id }) => id === link.peer);
      const earlier = before?.streamManagers.find(({ id }) => id === link.peer);
      if (now === undefined) {
        if (link.planEpoch <= plan.epoch) this.#part(link); // Otherwise it is in a newer one (H2).
      } else if (this.#parting.has(link)) this.#close(link, 'is another one now');
      else if (earlier !== undefined && hasMoved(earlier, now) && link.planEpoch < plan.epoch) {
        this.#close(link, 'is somewhere else now');
      }
    }
  }

  #part(link: PeerLink): void {
    if (this.#parting.has(link)) return; // By an earlier plan.
    const end = (): void => this.#close(link, 'is not in the plan any more');
    this.#parting.set(link, this.#options.clock.after(PARTING_MS_MAX, end));
  }

  #close({ peer, connection }: PeerLink, why: string): void {
    connection.close(environmentError('STALE_EPOCH', `${peer} ${why}`));
  }

  /** Ends the attempts to dial a peer; its link, if there is one, stays up (L2, L3). */
  #dialNoMore(id: StreamManagerId): void {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    const link = this.#links.get(id);
    if (client === undefined) return;
    if (link !== undefined && client.connection === link.connection) {
      link.connection.onClose(() => client.close());
    } else client.close();
  }

  #createClient(peer: StreamManagerId): ReconnectingClient {
    const { network, packetBytesMax, clock, random, logger, reconnectIntervalMs } = this.#options;
    return new ReconnectingClient({
      peer,
      network,
      packetBytesMax,
      clock,
      random,
      logger,
      backoffMinMs: reconnectIntervalMs,
      backoffMaxMs: reconnectIntervalMs,
      handlers: this.#linkHandlers(),
      onConnected: (connection) => this.#sayHello(peer, connection),
    });
  }

  async #sayHello(peer: StreamManagerId, connection: PacketConnection): Promise<void> {
    const { own, ownId, metrics } = this.#options;
    const planEpoch = assertDefined(this.#plan, 'peers are dialled because of a plan').epoch;
    const traffic = new PeerTraffic(metrics, peer);
    traffic.hellosToPeer.add(1);
    const request = Hello.request.create({
      topologyName: own.topologyName,
      topologyId: own.topologyId,
      stmgr: ownId,
      token: own.token,
      engineVersion: own.engineVersion,
      planEpoch: BigInt(planEpoch),
      beats: true,
    });
    const { status, engineVersion, beats } = await connection.request(Hello, request, {
      timeoutMs: HELLO_TIMEOUT_MS,
    });
    if (status?.status !== StatusCode.OK) {
      const why = status?.message ?? 'no reason given';
      throw environmentError('NOT_EXPECTED', `${peer} refused us: ${why}`, { retryable: true });
    }
    if (engineVersion !== own.engineVersion) {
      throw environmentError(
        'VERSION_MISMATCH',
        `this stream manager runs engine version ${own.engineVersion}, ` +
          `${peer} runs ${engineVersion || 'an unknown one'}`,
      );
    }
    const link = new PeerLink(peer, connection, planEpoch, traffic);
    this.#link(link);
    this.#linkUp(link);
    if (beats) this.#options.watch.add(connection, peer);
  }

  #handleHello(request: HelloRequest, connection: PacketConnection): HelloResponse {
    const { own, ownContainer, logger, clock, metrics, watch } = this.#options;
    const peer = streamManagerId(request.stmgr);
    const planEpoch = epoch(Number(request.planEpoch));
    const claim = {
      topologyName: request.topologyName,
      topologyId: request.topologyId,
      token: Object.hasOwn(request, 'token') ? request.token : undefined,
      engineVersion: Object.hasOwn(request, 'engineVersion') ? request.engineVersion : undefined,
      streamManager: peer,
      planEpoch,
    };
    const refusal = refusalOfHello(claim, { own, ownContainer, plan: this.#plan });
    if (refusal !== undefined) {
      const { code, why } = refusal;
      logger.warn('refused a stream manager', {
        peer,
        remote: connection.remote,
        code,
        reason: why,
      });
      // After this turn, so that the answer is on its way first.
      clock.soon(() => connection.close(environmentError(code, why)));
      return Hello.response.create({
        status: { status: StatusCode.NOTOK, message: why },
        engineVersion: own.engineVersion,
      });
    }
    const link = new PeerLink(peer, connection, planEpoch, new PeerTraffic(metrics, peer));
    this.#link(link);
    // After this turn: the other side understands what is said next only behind the answer.
    clock.soon(() => this.#linkUp(link));
    if (request.beats) watch.add(connection, peer);
    return Hello.response.create({
      status: { status: StatusCode.OK },
      engineVersion: own.engineVersion,
      beats: true,
    });
  }

  #link(link: PeerLink): void {
    const { peer, connection } = link;
    const { events, logger, metrics } = this.#options;
    const older = this.#links.get(peer);
    if (older !== undefined) {
      older.connection.close(environmentError('DUPLICATE_PEER', `${peer} has connected again`));
    }
    this.#links.set(peer, link);
    this.#linkByConnection.set(connection, link);
    connection.onClose((reason) => {
      this.#links.delete(peer);
      this.#linkByConnection.delete(connection);
      this.#up.delete(link);
      if (this.#endParting(link)) {
        retirePeerTraffic(metrics, peer);
        logger.info('a stream manager has left', { peer });
      } else logger.warn('lost a stream manager', { peer, reason: reason.message });
      events.onLinkDown(link, reason);
    });
    metrics.counter('__clientmgr/__stmgr_new_connections').add(1);
    logger.info('linked with a stream manager', { peer, remote: connection.remote });
  }

  /** Whether its end was awaited. */
  #endParting(link: PeerLink): boolean {
    this.#parting.get(link)?.cancel();
    return this.#parting.delete(link);
  }

  /** Its listener may have run already, if the connection ended during the hello. */
  #linkUp(link: PeerLink): void {
    if (!link.connection.isOpen) return;
    this.#up.add(link);
    this.#options.events.onLinkUp(link);
  }

  /** What both sides of a link handle, whoever dialled it. */
  #linkHandlers(): MessageHandlers {
    const { events } = this.#options;
    return new MessageHandlers()
      .onRaw(TUPLE_STREAM_TYPE, (packet, connection) =>
        events.onStreamMessage(this.#linkOf(connection), packet),
      )
      .on(StartBackPressure, (message, connection) =>
        events.onPressure(this.#linkOf(connection), startSignal(message)),
      )
      .on(StopBackPressure, (message, connection) =>
        events.onPressure(this.#linkOf(connection), stopSignal(message)),
      )
      .onRaw(LinkBeat.typeName, () => {}); // It has come: link-watch.ts has seen that.
  }

  #linkOf(connection: PacketConnection): PeerLink {
    const link = this.#linkByConnection.get(connection);
    if (link !== undefined) return link;
    throw environmentError('UNEXPECTED_MESSAGE', 'a message came before a hello');
  }

  #sender(): PressureSender {
    const { own, ownId } = this.#options;
    this.#pressureMessages += 1;
    return { own, ownId, messageNumber: this.#pressureMessages };
  }
}
