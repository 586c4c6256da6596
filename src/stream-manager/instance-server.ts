import type { Clock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { InstanceId, TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { InstanceAddress } from '../model/physical-plan.ts';
import { broadcast } from '../net/broadcast.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import type { LinkWatch } from '../supervision/link-watch.ts';
import { type Packet } from '../wire/frame.ts';
import {
  LinkBeat,
  NewInstanceAssignment,
  RegisterInstance,
  StatusCode,
  type ValueOf,
} from '../wire/messages.ts';
import { instanceFromMessage, type PhysicalPlanMessage } from '../wire/physical-plan.ts';
import { assertDefined } from '../base/assert.ts';
import { TUPLE_SET_TYPE } from '../wire/tuple-set-format.ts';
import { type Incarnation, Incarnations } from './incarnations.ts';
import { InstanceSession } from './instance-session.ts';
import { type Membership, refuse } from './membership.ts';
import {
  decideRegistration,
  type ExpectedInstances,
  type RegistrationClaim,
} from './registration.ts';

type RegisterRequest = ValueOf<typeof RegisterInstance.request>;
type RegisterResponse = ValueOf<typeof RegisterInstance.response>;

/** What the instance server tells its owner. */
export interface InstanceEvents {
  onRegistered(session: InstanceSession): void;
  onLost(session: InstanceSession): void;
  /** A tuple set from a registered instance. */
  onTupleSet(session: InstanceSession, packet: Packet): void;
}

export interface InstanceServerOptions {
  readonly own: Membership;
  /** Which ones change (expected-instances.ts); `dismiss` follows. */
  readonly expected: ExpectedInstances;
  /** Announced to instances that speak credits. */
  readonly instanceWindowBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: InstanceEvents;
  /** Whether a task has sent its last tuple, by this process of its instance or an earlier one. */
  readonly hasEnded: (task: TaskId) => boolean;
  /** Ends connections of instances that have gone silent. */
  readonly watch: LinkWatch;
}

/** The plan in force, as instances get it, and which of them do. */
export interface PlanForInstances {
  readonly message: PhysicalPlanMessage;
  readonly tasks: ReadonlySet<TaskId>;
}

/**
 * The conversation with the instances of this container. An instance connects and registers; the
 * answer holds the plan if there is one that has it, otherwise such a plan follows when it is in
 * force. From then on both sides send tuple sets until one goes away; the instance then connects
 * and registers again.
 *
 * S1. One session for each instance at most. A newer connection of the same instance ends the
 *     older, but an older process (incarnations.ts) is refused, and told to end.
 * S2. Nothing but a registration is heard from a connection without a session.
 * S3. An instance that is started again after its task has ended is told so: it must not run its
 *     input a second time.
 * S4. An instance gets only plans that have it. One that has left the plan keeps its connection
 *     until it is not expected any more, and hears nothing.
 */
export class InstanceServer {
  readonly handlers: MessageHandlers;
  readonly #options: InstanceServerOptions;
  readonly #sessions = new Map<InstanceId, InstanceSession>();
  readonly #sessionByConnection = new Map<PacketConnection, InstanceSession>();
  readonly #addresses = new Map<InstanceId, InstanceAddress>();
  readonly #incarnations = new Incarnations();
  #plan: PlanForInstances | undefined;

  constructor(options: InstanceServerOptions) {
    this.#options = options;
    this.handlers = new MessageHandlers()
      .onRequest(RegisterInstance, (request, connection) =>
        this.#handleRegister(request, connection),
      )
      .onRaw(TUPLE_SET_TYPE, (packet, connection) => this.#handleTupleSet(packet, connection))
      .onRaw(LinkBeat.typeName, () => {}); // It has come: link-watch.ts has seen that.
  }

  /** Whether all of these instances are connected. */
  areConnected(ids: readonly InstanceId[]): boolean {
    return ids.every((id) => this.#sessions.has(id));
  }

  /** True once every expected instance has registered, even if one is away just now. */
  get hasSeenAll(): boolean {
    return [...this.#options.expected.ids].every((id) => this.#addresses.has(id));
  }

  get sessions(): readonly InstanceSession[] {
    return [...this.#sessions.values()];
  }

  /** The expected instances, as they registered. */
  get addresses(): readonly InstanceAddress[] {
    return [...this.#options.expected.ids].flatMap((id) => this.#addresses.get(id) ?? []);
  }

  /** Gives the plan to all instances that it has, and to each one that registers later (S4). */
  publishPlan(plan: PlanForInstances): void {
    this.#plan = plan;
    const assignment = NewInstanceAssignment.create({ pplan: plan.message });
    const sessions = this.sessions.filter(({ address }) => plan.tasks.has(address.task));
    const connections = sessions.map(({ connection }) => connection);
    broadcast(connections, NewInstanceAssignment, assignment);
  }

  /** Ends the connections of instances that are neither expected nor in the plan in force. */
  dismiss(isInPlan: (task: TaskId) => boolean): void {
    const { ids } = this.#options.expected;
    for (const [id, { task }] of this.#addresses) {
      if (ids.has(id) || isInPlan(task)) continue;
      this.#addresses.delete(id);
      this.#incarnations.forget(id);
      const why = environmentError(
        'NOT_EXPECTED',
        `${id} is not an instance of this container now`,
      );
      this.#sessions.get(id)?.connection.close(why);
    }
  }

  #handleRegister(request: RegisterRequest, connection: PacketConnection): RegisterResponse {
    const claim = claimOf(request);
    const { own, expected, clock, logger, instanceWindowBytes, hasEnded } = this.#options;
    const instance = claim.instance.id;
    const replaced = this.#incarnations.isReplaced(instance, claim.incarnation);
    const decision = replaced
      ? refuse('DUPLICATE_PEER', `a process of ${instance} that was started later has registered`)
      : decideRegistration(claim, own, expected);
    if (decision.kind === 'refuse') {
      const { code, why } = decision;
      logger.warn('refused an instance', {
        instance,
        remote: connection.remote,
        code,
        reason: why,
      });
      // After this turn, so that the answer is on its way first.
      clock.soon(() => connection.close(environmentError(code, why)));
      return RegisterInstance.response.create({
        status: { status: StatusCode.NOTOK, message: why },
        ...(replaced && { replaced }),
      });
    }
    this.#incarnations.note(instance, claim.incarnation);
    const session = new InstanceSession(claim.instance, connection, decision.isForeign);
    this.#replace(session);
    logger.info('an instance registered', { instance, remote: connection.remote });
    this.#options.events.onRegistered(session);
    if (request.beats && !session.isForeign) this.#options.watch.add(connection, instance);
    const plan = this.#plan?.tasks.has(claim.instance.task) === true ? this.#plan : undefined;
    return RegisterInstance.response.create({
      status: { status: StatusCode.OK },
      ...(plan && { pplan: plan.message }),
      ...(!session.isForeign && {
        creditBytes: BigInt(instanceWindowBytes),
        ended: hasEnded(session.address.task), // S3
        beats: true,
      }),
    });
  }

  #replace(session: InstanceSession): void {
    const { id } = session.address;
    const older = this.#sessions.get(id);
    if (older !== undefined) {
      this.#end(older);
      if (older.connection !== session.connection) {
        older.connection.close(environmentError('DUPLICATE_PEER', `${id} has registered again`));
      }
    }
    this.#sessions.set(id, session);
    this.#sessionByConnection.set(session.connection, session);
    this.#addresses.set(id, session.address);
    session.connection.onClose((reason) => {
      if (this.#sessions.get(id) !== session) return;
      this.#options.logger.warn('lost an instance', { instance: id, reason: reason.message });
      this.#end(session);
    });
  }

  #end(session: InstanceSession): void {
    this.#sessions.delete(session.address.id);
    this.#sessionByConnection.delete(session.connection);
    this.#options.events.onLost(session);
  }

  #handleTupleSet(packet: Packet, connection: PacketConnection): void {
    const session = this.#sessionByConnection.get(connection);
    if (session === undefined) {
      throw environmentError('UNEXPECTED_MESSAGE', 'tuples came before a registration'); // S2
    }
    this.#options.events.onTupleSet(session, packet);
  }
}

function claimOf(
  request: RegisterRequest,
): RegistrationClaim & { readonly incarnation: Incarnation } {
  const has = (field: keyof RegisterRequest): boolean => Object.hasOwn(request, field);
  return {
    topologyName: request.topologyName,
    topologyId: request.topologyId,
    token: has('token') ? request.token : undefined,
    engineVersion: has('engineVersion') ? request.engineVersion : undefined,
    creditBytes: has('creditBytes') ? Number(request.creditBytes) : undefined,
    // Absent fields read as empty and zero, and are compared with nothing (I2).
    incarnation: { bootId: request.bootId, startTicks: Number(request.startTicks) },
    instance: instanceFromMessage(
      assertDefined(request.instance, 'decode has checked required fields'),
    ),
  };
}
