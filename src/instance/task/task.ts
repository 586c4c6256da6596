import type { BuiltTopology } from '../../api/topology.ts';
import { assert, assertDefined, unreachable } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { fromEnvelope, hasCode, messageOf, toEnvelope, userError } from '../../base/errors.ts';
import type { Logger, LogLevel } from '../../base/logger.ts';
import type { Files } from '../../base/files.ts';
import type { Random } from '../../base/random.ts';
import { differences } from '../../model/compare-topologies.ts';
import { logLevelOf } from '../../model/log-level.ts';
import type { LogicalTopology } from '../../model/logical-topology.ts';
import type { Sample } from '../../model/sample.ts';
import type { PhysicalPlan } from '../../model/physical-plan.ts';
import { PlanIndex } from '../../model/plan-index.ts';
import type { Doorbells } from '../../ring/doorbell.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { SharedMemory, ToGateway, ToTask } from '../thread-channel.ts';
import {
  advance,
  isActive,
  isDrained,
  isKilled,
  type TaskEvent,
  type TaskPhase,
  type TaskStep,
} from './task-phase.ts';
import type { RoomWait } from './room-wait.ts';
import { RunningComponent, type RunningComponentOptions } from './running-component.ts';
import { TaskPorts } from './task-ports.ts';

export interface TaskOptions {
  readonly identity: InstanceIdentity;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: Files;
  readonly logger: Logger;
  readonly doorbells: Doorbells;
  readonly roomWait: (ports: TaskPorts) => RoomWait;
  readonly runtimeUse?: RunningComponentOptions['runtimeUse'];
  readonly send: (message: ToGateway) => void;
  readonly workingDirectory: string;
  /** Imports the module of the topology's archive and builds what it describes. */
  readonly load: (topology: LogicalTopology) => Promise<BuiltTopology>;
  /** The task cannot go on; the process is to end with this error. */
  readonly onFailed: (error: unknown) => void;
  /** Of the logger above; by each plan. */
  readonly setLogLevel?: (level: LogLevel) => void;
  /** The gateway has closed its connections after an orderly end. */
  readonly onDone: () => void;
}

/**
 * The task's thread of an instance: loads the user's module, runs the component, and follows the
 * plan. Wiring only; what events mean stands in task-phase.ts.
 */
export class Task {
  readonly #options: TaskOptions;
  #phase: TaskPhase = { at: 'awaiting-plan' };
  #ports: TaskPorts | undefined;
  #built: Promise<BuiltTopology> | undefined;
  #component: RunningComponent | undefined;
  /** The last of the calls of user code that plans and the end ask for; they run one by one. */
  #calls: Promise<void> = Promise.resolve();

  constructor(options: TaskOptions) {
    this.#options = options;
  }

  /** Where it is in its life. */
  get at(): TaskPhase['at'] {
    return this.#phase.at;
  }

  /** Bytes that the component has emitted and that wait outside of the ring. */
  get keptBytes(): number {
    return this.#component?.keptBytes ?? 0;
  }

  handle(message: ToTask): void {
    switch (message.kind) {
      case 'definition':
        this.#begin(message.topology, message.memory);
        return;
      case 'plan':
        this.#handlePlan(message.plan);
        return;
      case 'ended-before':
        this.#step({ kind: 'ended-before' });
        return;
      case 'large-set':
        this.#ports?.largeSets.put(message.bytes);
        this.#ports?.bell.ring(); // The loop of a spout waits for it there.
        return;
      case 'ping':
        this.#ports?.status.answer(message.number);
        return;
      case 'sample':
        void this.#sample(message);
        return;
      case 'stop':
        this.#step({ kind: 'stop' });
        return;
      case 'done':
        this.#options.onDone();
        return;
      case 'cannot-start':
      case 'replaced':
        this.#options.onFailed(fromEnvelope(message.error));
        return;
      default:
        unreachable(message);
    }
  }

  async #sample({ number, wish }: Extract<ToTask, { kind: 'sample' }>): Promise<void> {
    const component = this.#component;
    const answer = (sample: Sample | string): void =>
      this.#options.send({ kind: 'sample', number, sample });
    if (component === undefined) return answer('its component is not open yet');
    await component.sample(wish).then(answer, (error: unknown) => answer(messageOf(error)));
  }

  #begin(topology: LogicalTopology, memory: SharedMemory): void {
    this.#ports = new TaskPorts(memory, this.#options.doorbells);
    this.#built = this.#load(topology);
    this.#built.then(
      () => this.#options.send({ kind: 'loaded' }),
      (error: unknown) => this.#fail(error),
    );
  }

  async #load(topology: LogicalTopology): Promise<BuiltTopology> {
    const status = assertDefined(this.#ports, 'the memory came with the definition').status;
    status.enter('module');
    try {
      const built = await this.#options.load(topology);
      const changes = differences(topology, built.topology);
      if (changes.length === 0) return built;
      throw userError(
        'TOPOLOGY_MISMATCH',
        `the module describes another topology than at submit: ${changes.join('; ')}; a topology ` +
          'must depend on nothing but its arguments and settings: submit it again',
      );
    } finally {
      status.leave();
    }
  }

  #handlePlan(plan: PhysicalPlan): void {
    const { status, bell } = assertDefined(this.#ports, 'a plan comes after the definition');
    const { setLogLevel, identity } = this.#options;
    setLogLevel?.(logLevelOf(plan.topology, identity.component));
    this.#component?.handlePlan(new PlanIndex(plan));
    status.planTaken();
    this.#step({ kind: 'plan', plan });
    bell.ring(); // A bolt whose input has ended may have waited for it.
  }

  #step(event: TaskEvent): void {
    const { phase, step } = advance(this.#options.identity.task, this.#phase, event);
    this.#phase = phase;
    this.#act(step, phase);
  }

  #act(step: TaskStep, phase: TaskPhase): void {
    switch (step) {
      case 'none':
        return;
      case 'await-place':
        this.#options.logger.info('waits until the task that had its place before has ended');
        return;
      case 'open':
        this.#inTurn(() => this.#open());
        return;
      case 'run':
        assert(phase.at === 'running', 'what is to run has been opened');
        this.#options.send({ kind: 'started' });
        this.#run(isActive(phase.plan));
        if (isDrained(phase.plan, this.#options.identity.task)) this.#component?.drain();
        return;
      case 'activate':
      case 'deactivate':
        this.#component?.setActive(step === 'activate');
        return;
      case 'drain':
        assert(phase.at === 'running', 'what is drained runs');
        if (!isKilled(phase.plan)) this.#component?.setActive(isActive(phase.plan));
        this.#component?.drain();
        return;
      case 'stop':
        this.#component?.stop();
        this.#inTurn(() => this.#close());
        return;
      default:
        unreachable(step);
    }
  }

  async #open(): Promise<void> {
    const { identity, clock, random, files, logger, send, roomWait } = this.#options;
    const { workingDirectory, runtimeUse } = this.#options;
    const built = await assertDefined(this.#built, 'a plan comes after the definition');
    if (this.#phase.at !== 'opening') return;
    const ports = assertDefined(this.#ports, 'a plan comes after the definition');
    const component = new RunningComponent({
      identity,
      clock,
      random,
      files,
      logger,
      send,
      built,
      ports,
      roomWait: roomWait(ports),
      workingDirectory,
      runtimeUse,
      plan: new PlanIndex(this.#phase.plan),
    });
    this.#component = component;
    await component.open();
    this.#step({ kind: 'opened' });
  }

  #run(active: boolean): void {
    const component = assertDefined(this.#component, 'an opened component runs');
    component.run(active).then(
      (outcome) => {
        if (outcome !== 'ended') return;
        this.#options.logger.info('all input has ended and has been processed');
        this.#options.send({ kind: 'ended' });
        this.#step({ kind: 'ended' });
      },
      (error: unknown) => this.#fail(error),
    );
  }

  async #close(): Promise<void> {
    try {
      await this.#component?.close();
    } catch (error) {
      this.#fail(error);
    }
    this.#options.send({ kind: 'stopped' });
  }

  #inTurn(call: () => Promise<void>): void {
    this.#calls = this.#calls.then(call).catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    const { logger, send, onFailed } = this.#options;
    // The ring was closed under `emit`: the gateway stops, and its message of that is on its way.
    const isCutShort = hasCode(error, 'CONNECTION_CLOSED');
    if (isCutShort) logger.info('the component was stopped in the middle of a call');
    else if (this.#phase.at === 'stopping') {
      logger.error(`failed while it was being stopped: ${messageOf(error)}`, { error });
    } else {
      send({ kind: 'failed', error: toEnvelope(error) });
      onFailed(error);
    }
  }
}
