import type { Clock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { InstanceId, TaskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { InstanceAddress } from '../model/physical-plan.ts';
import { broadcast } from '../net/broadcast.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import { type Packet } from '../wire/frame.ts';
import {
  NewInstanceAssignment,
  RegisterInstance,
  StatusCode,
  type ValueOf,
} from '../wire/messages.ts';
import { instanceFromMessage, type PhysicalPlanMessage } from '../wire/physical-plan.ts';
import { assertDefined } from '../base/assert.ts';
import { TUPLE_SET_TYPE } from '../wire/tuple-set-format.ts';
import { InstanceSession } from './instance-session.ts';
import type { Membership } from './membership.ts';
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
  readonly expected: ExpectedInstances;
  /** Announced to instances that speak credits. */
  readonly instanceWindowBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: InstanceEvents;
  /** Whether a task has sent its last tuple, by this process of its instance or an earlier one. */
  readonly hasEnded: (task: TaskId) => boolean;
}

/**
 * The conversation with the instances of this container. An instance connects and registers; the
 * answer holds the plan if there is one, otherwise the plan follows when it is in force. From then
 * on both sides send tuple sets until one goes away; the instance then connects and registers
 * again.
 *
 * S1. One session for each instance at most. A newer connection of the same instance ends the
 *     older: only one process may have that id, and its executor has seen to it that the older one
 *     is dead.
 * S2. Nothing but a registration is heard from a connection without a session.
 * S3. An instance that is started again after its task has ended is told so: it must not run its
 *     input a second time.
 */
export class InstanceServer {
  readonly handlers: MessageHandlers;
  readonly #options: InstanceServerOptions;
  readonly #sessions = new Map<InstanceId, InstanceSession>();
  readonly #sessionByConnection = new Map<PacketConnection, InstanceSession>();
  readonly #addresses = new Map<InstanceId, InstanceAddress>();
  #plan: PhysicalPlanMessage | undefined;

  constructor(options: InstanceServerOptions) {
    this.#options = options;
    this.handlers = new MessageHandlers()
      .onRequest(RegisterInstance, (request, connection) =>
        this.#handleRegister(request, connection),
      )
      .onRaw(TUPLE_SET_TYPE, (packet, connection) => this.#handleTupleSet(packet, connection));
  }

  /** True while every instance of the container is connected. */
  get isComplete(): boolean {
    return this.#sessions.size === this.#options.expected.ids.size;
  }

  /** True once every instance of the container has registered, even if one is away just now. */
  get hasSeenAll(): boolean {
    return this.#addresses.size === this.#options.expected.ids.size;
  }

  get sessions(): readonly InstanceSession[] {
    return [...this.#sessions.values()];
  }

  /** The instances as they registered. */
  get addresses(): readonly InstanceAddress[] {
    return [...this.#addresses.values()];
  }

  /** Gives the plan to all instances, and from now on to each one that registers. */
  publishPlan(plan: PhysicalPlanMessage): void {
    this.#plan = plan;
    const assignment = NewInstanceAssignment.create({ pplan: plan });
    const connections = Array.from(this.#sessions.values(), ({ connection }) => connection);
    broadcast(connections, NewInstanceAssignment, assignment);
  }

  #handleRegister(request: RegisterRequest, connection: PacketConnection): RegisterResponse {
    const claim = claimOf(request);
    const { own, expected, clock, logger, instanceWindowBytes, hasEnded } = this.#options;
    const decision = decideRegistration(claim, own, expected);
    const instance = claim.instance.id;
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
      });
    }
    const session = new InstanceSession(claim.instance, connection, decision.isForeign);
    this.#replace(session);
    logger.info('an instance registered', { instance, remote: connection.remote });
    this.#options.events.onRegistered(session);
    return RegisterInstance.response.create({
      status: { status: StatusCode.OK },
      ...(this.#plan && { pplan: this.#plan }),
      ...(!session.isForeign && {
        creditBytes: BigInt(instanceWindowBytes),
        ended: hasEnded(session.address.task), // S3
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

function claimOf(request: RegisterRequest): RegistrationClaim {
  const has = (field: keyof RegisterRequest): boolean => Object.hasOwn(request, field);
  return {
    topologyName: request.topologyName,
    topologyId: request.topologyId,
    token: has('token') ? request.token : undefined,
    engineVersion: has('engineVersion') ? request.engineVersion : undefined,
    creditBytes: has('creditBytes') ? Number(request.creditBytes) : undefined,
    instance: instanceFromMessage(
      assertDefined(request.instance, 'decode has checked required fields'),
    ),
  };
}
