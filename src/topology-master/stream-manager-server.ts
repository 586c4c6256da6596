import type { Clock, Timer } from '../base/clock.ts';
import { type EngineError, environmentError } from '../base/errors.ts';
import { type Epoch, epoch, type StreamManagerId, type TaskId, taskId } from '../base/ids.ts';
import type { Logger } from '../base/logger.ts';
import type { Incident } from '../model/completion.ts';
import type { PackingPlan } from '../model/packing-plan.ts';
import { broadcast } from '../net/broadcast.ts';
import { MessageHandlers } from '../net/message-handlers.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import type { RequestType } from '../wire/message-type.ts';
import {
  NewPhysicalPlan,
  PublishMetricsToMaster,
  RegisterStreamManager,
  StatusCode,
  StreamManagerHeartbeat,
  type ValueOf,
} from '../wire/messages.ts';
import {
  instanceFromMessage,
  type PhysicalPlanMessage,
  streamManagerFromMessage,
} from '../wire/physical-plan.ts';
import { type EndedTask, lostInstances } from './completion-decision.ts';
import { HeartbeatMonitor } from './heartbeat-monitor.ts';
import type { Addresses } from './placement.ts';
import {
  decideRegistration,
  type RefusalStatus,
  type Registration,
  type RegistrationClaim,
  type RegistrationDecision,
} from './registration-decision.ts';

/*
  The conversation with the stream managers:

    StMgrRegisterRequest →         first on a connection; again on it when it serves other tasks
    ← StMgrRegisterResponse        OK with the plan in force, if the sender is in it as it is now
    StMgrHeartbeatRequest →        until the connection ends, also at once when a task ends
    ← NewPhysicalPlanMessage       at every new plan that the sender is in, or was in before

  Metrics managers send PublishMetrics on connections of their own, without any registration.

  S1. An id belongs to one connection at a time, and a connection has at most one id.
  S2. A stream manager counts as present from its registration until its connection ends. A silent
      one loses its connection (heartbeat-monitor.ts); it may come back whenever it can.
  S3. A plan is encoded once for all who get it: it grows with the topology, as does their number.
  S4. A peer may know of a newer packing plan than this process does. Nobody is refused because of
      the packing plan before that has been read again.
  S5. A registration that is refused takes nothing away from one before it.
*/

type RegisterRequest = ValueOf<typeof RegisterStreamManager.request>;
type HeartbeatRequest = ValueOf<typeof StreamManagerHeartbeat.request>;
type HeartbeatResponse = ValueOf<typeof StreamManagerHeartbeat.response>;
export type PublishedMetrics = ValueOf<typeof PublishMetricsToMaster>;

/** How far a stream manager is. */
export interface Progress {
  /** Retiring tasks of its container of which no tuple is left. */
  readonly retired: readonly TaskId[];
  /** Of the plan that it works by; 0 when it does not say. */
  readonly planEpoch: Epoch;
}

/** The plans by which registrations are judged. */
export interface PlansAtHand {
  packing(): PackingPlan;
  /** Undefined before the first plan. */
  inForce(): Addresses | undefined;
  /** Looks whether there is a newer packing plan. Never rejects. */
  refresh(): Promise<void>;
}

/** What the server needs of its owner. */
export interface StreamManagerEvents {
  /** Returns the plan in force if the sender can work by it. */
  onRegistered(registration: Registration): PhysicalPlanMessage | undefined;
  onGone(id: StreamManagerId): void;
  /** What a heartbeat says of live changes; said again and again. */
  onProgress(id: StreamManagerId, progress: Progress): void;
  onEnded(tasks: readonly EndedTask[]): void;
  /** Instances that a stream manager has lost; said again and again. */
  onLost(incidents: readonly Incident[]): void;
  onMetrics(metrics: PublishedMetrics): void;
  /** A peer has met a newer incarnation of the master. */
  onStepDown(error: EngineError): void;
}

export interface StreamManagerServerOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly plans: PlansAtHand;
  readonly token: string;
  readonly engineVersion: string;
  readonly isForeign: boolean;
  readonly masterEpoch: Epoch;
  readonly timeoutMs: number;
  readonly events: StreamManagerEvents;
}

interface Present {
  readonly connection: PacketConnection;
  readonly registration: Registration;
  /** True once it has been given a plan. */
  hasPlan: boolean;
}

/** Answers are encoded here: all who register by one plan get the same bytes (S3). */
const Register: RequestType<RegisterRequest, Uint8Array> = {
  request: RegisterStreamManager.request,
  response: {
    typeName: RegisterStreamManager.response.typeName,
    encode: (bytes) => bytes,
    decode: (bytes) => bytes,
  },
};

const CHECK_PERIOD_MS = 1_000;

/** In Heron's words. */
const WELCOME = 'Welcome StreamManager';

const STATUS: Readonly<Record<RefusalStatus, StatusCode>> = {
  NOTOK: StatusCode.NOTOK,
  INVALID_STMGR: StatusCode.INVALID_STMGR,
  DUPLICATE_STRMGR: StatusCode.DUPLICATE_STRMGR,
};

export class StreamManagerServer {
  readonly handlers: MessageHandlers;
  readonly #options: StreamManagerServerOptions;
  readonly #present = new Map<StreamManagerId, Present>();
  readonly #idByConnection = new Map<PacketConnection, StreamManagerId>();
  readonly #monitor: HeartbeatMonitor;
  readonly #checks: Timer;
  readonly #opened = Promise.withResolvers<void>();
  #welcome: { readonly plan: PhysicalPlanMessage; readonly bytes: Uint8Array } | undefined;

  constructor(options: StreamManagerServerOptions) {
    this.#options = options;
    const { clock, timeoutMs } = options;
    const limits = { timeoutMs, checkPeriodMs: CHECK_PERIOD_MS };
    this.#monitor = new HeartbeatMonitor(limits, clock.now());
    this.#checks = clock.every(CHECK_PERIOD_MS, () => this.#check());
    this.handlers = new MessageHandlers()
      .onRequest(Register, (request, from) => this.#handleRegister(request, from))
      .onRequest(StreamManagerHeartbeat, (beat, from) => this.#handleHeartbeat(beat, from))
      .on(PublishMetricsToMaster, (metrics) => options.events.onMetrics(metrics));
  }

  /**
   * Registrations that came before wait until now: a port may be known before its master serves.
   */
  open(): void {
    this.#opened.resolve();
  }

  get registered(): readonly StreamManagerId[] {
    return [...this.#present.keys()];
  }

  distribute(plan: PhysicalPlanMessage): void {
    const message = NewPhysicalPlan.create({
      newPplan: plan,
      masterEpoch: BigInt(this.#options.masterEpoch),
    });
    const planned = new Set(plan.stmgrs.map(({ id }) => id));
    const connections: PacketConnection[] = [];
    for (const [id, present] of this.#present) {
      if (!planned.has(id) && !present.hasPlan) continue;
      present.hasPlan = true;
      connections.push(present.connection);
    }
    broadcast(connections, NewPhysicalPlan, message);
  }

  /** Idempotent; the connections are the server's to close. */
  close(): void {
    this.#checks.cancel();
  }

  async #handleRegister(
    request: RegisterRequest,
    connection: PacketConnection,
  ): Promise<Uint8Array> {
    await this.#opened.promise;
    if (!connection.isOpen) return this.#answer(StatusCode.NOTOK, 'the connection is gone');
    const { logger, events } = this.#options;
    const claim = claimOf(request);
    const { id } = claim.address;
    const decision = await this.#decide(claim);
    if (!connection.isOpen) return this.#answer(StatusCode.NOTOK, 'the connection is gone');
    if (decision.kind === 'step-down') {
      events.onStepDown(environmentError('STALE_EPOCH', decision.reason));
      return this.#answer(StatusCode.NOTOK, decision.reason);
    }
    if (decision.kind === 'refuse') {
      logger.warn('a stream manager is refused', { id, from: connection.remote, ...decision });
      return this.#answer(STATUS[decision.status], decision.reason);
    }
    this.#replaceHolder(id, connection);
    const plan = this.#accept(claim, connection);
    return this.#welcomeWith(plan);
  }

  async #decide(claim: RegistrationClaim): Promise<RegistrationDecision> {
    const { plans } = this.#options;
    const decision = this.#judge(claim);
    if (decision.kind !== 'refuse' || !decision.isMisplaced) return decision;
    await plans.refresh(); // S4
    return this.#judge(claim);
  }

  #judge(claim: RegistrationClaim): RegistrationDecision {
    const { clock, plans } = this.#options;
    const { id } = claim.address;
    const holder = this.#present.get(id);
    const lastHeardMs = this.#monitor.lastHeardMs(id) ?? 0;
    return decideRegistration({
      ...this.#options,
      packing: plans.packing(),
      inForce: plans.inForce(),
      claim,
      holder: holder && { address: holder.registration.address, lastHeardMs },
      nowMs: clock.now(),
    });
  }

  #replaceHolder(id: StreamManagerId, connection: PacketConnection): void {
    const reason = environmentError('DUPLICATE_PEER', `${id} has connected again`);
    const holder = this.#present.get(id)?.connection;
    if (holder !== connection) holder?.abort(reason);
    const other = this.#idByConnection.get(connection);
    if (other !== undefined && other !== id) this.#forget(other, connection);
  }

  #accept(claim: Registration, connection: PacketConnection): PhysicalPlanMessage | undefined {
    const { clock, logger, events } = this.#options;
    const { id } = claim.address;
    const { address, instances } = claim;
    const known = this.#present.get(id);
    const registration = { address, instances };
    const isSame = known?.connection === connection;
    const present = { connection, registration, hasPlan: isSame && known.hasPlan };
    this.#present.set(id, present);
    this.#idByConnection.set(connection, id);
    this.#monitor.heard(id, clock.now());
    logger.info('a stream manager has registered', { id, from: connection.remote });
    if (!isSame) connection.onClose(() => this.#forget(id, connection));
    const plan = events.onRegistered(registration);
    present.hasPlan ||= plan !== undefined;
    return plan;
  }

  #handleHeartbeat(beat: HeartbeatRequest, connection: PacketConnection): HeartbeatResponse {
    const { clock, events } = this.#options;
    const id = this.#idByConnection.get(connection);
    if (id === undefined) {
      const status = { status: StatusCode.INVALID_STMGR, message: 'register first' };
      return StreamManagerHeartbeat.response.create({ status });
    }
    this.#monitor.heard(id, clock.now());
    const registration = this.#present.get(id)?.registration;
    if (registration !== undefined && beat.lostTasks.length > 0) {
      events.onLost(lostInstances(registration, beat.lostTasks)); // Before the ends that follow.
    }
    // Before what follows from the plan that it works by.
    if (beat.endedTaskIds.length > 0) events.onEnded(endedTasks(beat));
    const planEpoch = epoch(Number(beat.planEpoch));
    events.onProgress(id, { retired: beat.retiredTaskIds.map(taskId), planEpoch });
    return StreamManagerHeartbeat.response.create({ status: { status: StatusCode.OK } });
  }

  #forget(id: StreamManagerId, connection: PacketConnection): void {
    if (this.#present.get(id)?.connection !== connection) return;
    this.#present.delete(id);
    this.#idByConnection.delete(connection);
    this.#monitor.forget(id);
    this.#options.logger.warn('a stream manager is gone', { id });
    this.#options.events.onGone(id);
  }

  #check(): void {
    const { clock, logger, timeoutMs } = this.#options;
    const verdict = this.#monitor.check(clock.now());
    switch (verdict.kind) {
      case 'all-heard':
        return;
      case 'observer-suspected':
        logger.warn('many heartbeats are missing at once; nobody is judged', { ids: verdict.ids });
        return;
      case 'silent':
        for (const id of verdict.ids) {
          const reason = `${id} has not been heard for ${timeoutMs} ms`;
          const error = environmentError('REQUEST_TIMEOUT', reason, { retryable: true });
          this.#present.get(id)?.connection.abort(error);
        }
    }
  }

  #welcomeWith(plan: PhysicalPlanMessage | undefined): Uint8Array {
    if (plan === undefined) return this.#answer(StatusCode.OK, WELCOME);
    if (this.#welcome?.plan !== plan) {
      this.#welcome = { plan, bytes: this.#answer(StatusCode.OK, WELCOME, plan) };
    }
    return this.#welcome.bytes;
  }

  #answer(status: StatusCode, message: string, plan?: PhysicalPlanMessage): Uint8Array {
    const { response } = RegisterStreamManager;
    return response.encode(
      response.create({
        status: { status, message },
        ...(plan && { pplan: plan }),
        masterEpoch: BigInt(this.#options.masterEpoch),
      }),
    );
  }
}

function endedTasks({ endedTaskIds, endedPlanEpochs }: HeartbeatRequest): readonly EndedTask[] {
  return endedTaskIds.map((task, index) => ({
    task: taskId(task),
    planEpoch: epoch(Number(endedPlanEpochs[index] ?? 0)),
  }));
}

function claimOf(request: RegisterRequest): RegistrationClaim {
  const { stmgr, instances, token, engineVersion, masterEpoch } = request;
  if (stmgr === undefined) throw environmentError('PACKET_MALFORMED', 'a registration without id');
  return {
    address: streamManagerFromMessage(stmgr),
    instances: instances.map(instanceFromMessage),
    // Absent fields read as empty texts.
    token: token === '' ? undefined : token,
    engineVersion: engineVersion === '' ? undefined : engineVersion,
    masterEpoch: epoch(Number(masterEpoch)),
  };
}
