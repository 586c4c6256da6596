import type { BuiltTopology } from '../api/topology.ts';
import { assertDefined, unreachable } from '../base/assert.ts';
import { EngineError, hasCode, userError } from '../base/errors.ts';
import { componentName } from '../base/ids.ts';
import type { InstanceIdentity } from '../instance/instance-identity.ts';
import { Task } from '../instance/task/task.ts';
import { visibleFacts } from '../instance/task/visible-facts.ts';
import type { ToGateway, ToTask } from '../instance/thread-channel.ts';
import type { PhysicalPlan } from '../model/physical-plan.ts';
import { Settings } from '../model/settings.ts';
import { SimulatedDoorbells } from '../simulation/kernel/doorbells.ts';
import { Kernel } from '../simulation/kernel/kernel.ts';
import { SimulatedDisk } from '../simulation/kernel/simulated-disk.ts';
import type { SimulatedThread } from '../simulation/kernel/simulated-thread.ts';
import { LonePlans, type TestUpdate } from './lone-plan.ts';
import { observe } from './observed-component.ts';
import { type LoggedLine, observedLogger } from './observed-log.ts';
import { RunDriver } from './run-driver.ts';
import { ScriptedGateway, type TupleSource } from './scripted-gateway.ts';
import { TaskHistory } from './task-history.ts';
import { type RealAccess, runUserCode, type UserCodeWorld } from './user-code.ts';
import { worldOfThread } from './world-of-thread.ts';

export interface LoneTaskOptions {
  /** The component among stand-ins for what it reads and what reads it. */
  readonly built: BuiltTopology;
  readonly component: string;
  readonly taskIndex: number;
  readonly seed: number;
  readonly allow: readonly RealAccess[];
  readonly isActive: boolean;
  readonly gate?: (nextTuple: () => unknown) => unknown;
  readonly keepsMessageIds?: boolean;
}

/** What the task has said last about where it is in its life. */
type Said = Extract<ToGateway['kind'], 'loaded' | 'started' | 'ended' | 'stopped'>;

/**
 * One task of a topology that runs alone: the real task of an instance on a simulated thread, whose
 * gateway is the test.
 */
export class LoneTask {
  readonly history: TaskHistory;
  readonly driver: RunDriver;
  readonly logs: LoggedLine[] = [];
  readonly #options: LoneTaskOptions;
  readonly #kernel: Kernel;
  readonly #settings: Settings;
  readonly #plans: LonePlans;
  readonly #doorbells = new SimulatedDoorbells();
  #said: Said | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** The plan that the task has last been given. */
  #plan: PhysicalPlan | undefined;
  #start: TaskStart | undefined;

  constructor(options: LoneTaskOptions) {
    this.#options = options;
    this.#kernel = new Kernel({ seed: options.seed, keepsLog: false });
    this.#settings = new Settings(options.built.topology.config);
    this.driver = new RunDriver(this.#kernel);
    this.history = new TaskHistory(options.component, options.taskIndex);
    this.#plans = new LonePlans(options.built, options.component, options.taskIndex);
    this.#plans.setActive(options.isActive);
  }

  get nowMs(): number {
    return this.#kernel.nowMs;
  }

  get hasEnded(): boolean {
    return this.#said === 'ended';
  }

  /** Starts a process for the task, which makes a component of its own. */
  async start(): Promise<void> {
    this.#start?.kill();
    this.#said = undefined;
    this.#failure = undefined;
    this.#plan = this.#plans.next();
    this.#start = this.#startTask(this.#plan);
    await this.reach(() => this.#said === 'started', 'its first method has not returned');
  }

  setActive(isActive: boolean): void {
    this.#plans.setActive(isActive);
    this.#givePlan();
  }

  /** Resolves when the component has been told. */
  async update(change: TestUpdate): Promise<void> {
    this.#throwFailure();
    const before = this.#plan;
    const { history } = this;
    const callsBefore = history.callsOf('update');
    this.#plans.change(change);
    const plan = this.#givePlan();
    const isSeen = before === undefined || visibleFacts(before) !== visibleFacts(plan);
    if (!isSeen || this.hasEnded) return;
    await this.reach(
      () => history.callsOf('update') > callsBefore && history.callsUnderWay === 0,
      'update has not returned',
    );
  }

  feed(source: Omit<TupleSource, 'task'>, taskIndex: number, values: readonly unknown[]): void {
    this.#throwFailure();
    const task = this.#plans.taskOf(source.component, taskIndex);
    const { serializer } = this.#options.built;
    const sent = serializer === undefined ? values : values.map((v) => serializer.serialize(v));
    this.#running.gateway.feed({ ...source, task }, sent);
  }

  /** All tasks that this one reads from say that they have ended. */
  endInput(): void {
    this.#throwFailure();
    for (const task of this.#plans.upstreamTasks()) this.#running.gateway.feedEnd(task);
  }

  /** Calls as an event of the task's thread and in its world; gives what comes of it. */
  async perform<Result>(call: () => Result | PromiseLike<Result>): Promise<Result> {
    this.#throwFailure();
    const { thread, world } = this.#running;
    let outcome: PromiseSettledResult<Result> | undefined;
    thread.post(0, () => {
      const settling = runUserCode(world, async () => call());
      settling.then(
        (value) => (outcome = { status: 'fulfilled', value }),
        (reason: unknown) => (outcome = { status: 'rejected', reason }),
      );
    });
    await this.reach(() => outcome !== undefined, 'a promise is pending');
    if (outcome?.status === 'fulfilled') return outcome.value;
    throw outcome?.reason;
  }

  /** Runs until the condition holds; throws what has ended the instance, if something has. */
  async reach(until: () => boolean, waitsFor: string, withinMs?: number): Promise<void> {
    this.#throwFailure();
    await this.driver.reach(() => this.#failure !== undefined || until(), {
      waitsFor: () => `${this.#where}: ${waitsFor}`,
      ...(withinMs !== undefined && { withinMs }),
    });
    this.#throwFailure();
  }

  async advance(ms: number): Promise<void> {
    this.#throwFailure();
    await this.driver.advance(ms);
    this.#throwFailure();
  }

  /**
   * The orderly end, unless the instance has failed or does not come to it within its grace time.
   * Idempotent.
   *
   * @throws What its last method throws.
   */
  async close(): Promise<void> {
    const start = this.#start;
    if (start === undefined) return;
    const errorsBefore = this.history.errors.length;
    try {
      if (this.#failure !== undefined) return;
      start.tell({ kind: 'stop' });
      const withinMs = this.#settings.get('heron.shutdown.grace.ms');
      await this.reach(() => this.#said === 'stopped', 'it has not stopped', withinMs);
    } catch (error) {
      if (!hasCode(error, 'RUN_NOT_FINISHED')) throw error;
    } finally {
      this.#start = undefined;
      start.kill();
    }
    const last = this.history.errors
      .slice(errorsBefore)
      .find(({ method }) => method === 'cleanup' || method === 'close');
    if (last !== undefined) throw last.error;
  }

  get #running(): TaskStart {
    if (this.#start !== undefined) return this.#start;
    throw userError('INVALID_ARGUMENT', `${this.#where} has been closed`);
  }

  get #where(): string {
    return `'${this.#options.component}'`;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** The instance cannot go on. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  #givePlan(): PhysicalPlan {
    const plan = this.#plans.next();
    this.#plan = plan;
    this.#running.tell({ kind: 'plan', plan });
    return plan;
  }

  #startTask(plan: PhysicalPlan): TaskStart {
    const { component, taskIndex, allow } = this.#options;
    const thread = this.#kernel.createThread(component);
    const gatewayThread = this.#kernel.createThread(`${component}/gateway`);
    thread.onFailure = (error) => this.fail(error);
    const world = worldOfThread(thread, {
      kernel: this.#kernel,
      where: `'${component}' (task ${taskIndex})`,
      allow,
      crash: () => {
        thread.kill();
        this.fail(new EngineError('PROCESS_LOST', `${this.#where} crashed`, { domain: 'user' }));
      },
    });
    const task = new Task({
      identity: this.#identity(plan),
      clock: thread.clock,
      random: this.#kernel.random(`task of ${this.#where}`),
      files: new SimulatedDisk(this.#kernel).filesOf(thread),
      logger: observedLogger((level, message, fields) => {
        this.logs.push({ atMs: this.nowMs, name: component, level, message, fields });
      }),
      doorbells: this.#doorbells.of(thread),
      roomWait: () => ({ wait: () => false }),
      send: (message) => this.#handle(message),
      workingDirectory: '/',
      load: () => Promise.resolve(this.#observed(world)),
      onFailed: (error) => this.fail(error),
      onDone: () => {},
    });
    const tell = (message: ToTask): void => void thread.post(0, () => task.handle(message));
    const gateway = new ScriptedGateway(gatewayThread, {
      settings: this.#settings,
      doorbells: this.#doorbells.of(gatewayThread),
      tell,
    });
    tell({ kind: 'definition', topology: plan.topology, memory: gateway.memory });
    tell({ kind: 'plan', plan });
    return {
      thread,
      world,
      gateway,
      tell,
      kill: () => {
        thread.kill();
        gatewayThread.kill();
      },
    };
  }

  #handle(message: ToGateway): void {
    switch (message.kind) {
      case 'loaded':
      case 'started':
      case 'ended':
      case 'stopped':
        this.#said = message.kind;
        return;
      case 'failed': // `onFailed` has the error itself.
      case 'exception':
      case 'large-set':
      case 'sample':
      case 'stop':
        return;
      default:
        unreachable(message);
    }
  }

  /** The topology with a factory whose component is observed. */
  #observed(world: UserCodeWorld): BuiltTopology {
    const { built, component, gate, keepsMessageIds } = this.#options;
    const name = componentName(component);
    const factory = assertDefined(built.factories.get(name), 'the component is in its topology');
    const observer = {
      world,
      history: this.history,
      nowMs: () => this.nowMs,
      ...(gate && { gate }),
      ...(keepsMessageIds !== undefined && { keepsMessageIds }),
    };
    return { ...built, factories: new Map([[name, observe(factory, observer)]]) };
  }

  #identity({ topology, streamManagers, instances }: PhysicalPlan): InstanceIdentity {
    const own = instances.find(({ task }) => task === this.#plans.task);
    const instance = assertDefined(own, 'every plan has the task in test');
    const [streamManager] = streamManagers;
    return {
      topologyName: topology.name,
      topologyId: topology.id,
      instance: instance.id,
      component: instance.component,
      task: instance.task,
      componentIndex: instance.componentIndex,
      container: 1 as InstanceIdentity['container'],
      host: assertDefined(streamManager, 'the plan has a container').host,
      streamManager: instance.streamManager,
      streamManagerPort: 1,
      metricsManagerPort: 1,
      definitionFile: '',
      logDirectory: '',
    };
  }
}

interface TaskStart {
  readonly thread: SimulatedThread;
  readonly world: UserCodeWorld;
  readonly gateway: ScriptedGateway;
  readonly tell: (message: ToTask) => void;
  readonly kill: () => void;
}
