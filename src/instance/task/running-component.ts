import {
  type AnyBolt,
  type AnySpout,
  attach,
  isBolt,
  isSpout,
  kindOf,
  streamsOf,
} from '../../api/component-runtime.ts';
import type { TaskHook } from '../../api/topology-context.ts';
import { type ContextSource, TopologyContext } from '../../api/topology-context.ts';
import type { BuiltTopology } from '../../api/topology.ts';
import { assert, assertDefined } from '../../base/assert.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Files } from '../../base/files.ts';
import type { Random } from '../../base/random.ts';
import type { RuntimeUse } from '../../metrics/runtime-metrics.ts';
import type { Component } from '../../model/logical-topology.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import type { Sample, SampleWish } from '../../model/sample.ts';
import { reliabilityOf } from '../../model/reliability.ts';
import { componentSettings } from '../../model/component-settings.ts';
import type { Settings } from '../../model/settings.ts';
import { AckFold } from '../../wire/ack-fold.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { ToGateway } from '../thread-channel.ts';
import { boltRunner } from './bolt-runner-of.ts';
import { collectedStreams } from './collected-streams.ts';
import type { ComponentRunner } from './component-runner.ts';
import { componentOutput } from './component-output.ts';
import { ComponentTimers } from './component-timers.ts';
import { DeadLetters } from './dead-letters.ts';
import { type DueEvent, DueEvents } from './due-events.ts';
import { emitLog } from './emit-log.ts';
import { EndTracker } from './end-tracker.ts';
import { ErrorReports } from './error-reports.ts';
import { MetricsReporter } from './metrics-reporter.ts';
import { nothingIsSent, type RoomWait } from './room-wait.ts';
import { HeldTime } from './held-time.ts';
import { heedLiveSettings } from './live-settings.ts';
import { SpoutRunner } from './spout-runner.ts';
import type { CollectedStream, ComponentCollector } from './component-collector.ts';
import { type TaskAccounts, taskAccounts } from './task-accounts.ts';
import { TaskCounters } from './task-counters.ts';
import { TaskHooks } from './task-hooks.ts';
import type { TaskPorts } from './task-ports.ts';
import { type TaskTracer, taskTracer } from './trace/task-tracer.ts';
import { tickEvent } from './tick-event.ts';
import { watchTimeOuts } from './time-out-watch.ts';
import type { TupleOutput } from './tuple-output.ts';
import { UserCalls } from './user-calls.ts';
import { visibleFacts } from './visible-facts.ts';

export interface RunningComponentOptions {
  readonly identity: InstanceIdentity;
  readonly clock: Clock;
  readonly random: Random;
  readonly files: Files;
  readonly logger: Logger;
  readonly send: (message: ToGateway) => void;
  readonly built: BuiltTopology;
  readonly ports: TaskPorts;
  readonly roomWait: RoomWait;
  /** What the runtime of this thread takes; undefined where that is not known. */
  readonly runtimeUse?: (() => RuntimeUse) | undefined;
  readonly workingDirectory: string;
  readonly plan: PlanIndex;
}

/** One component of the user, joined to the rings; lives from its construction to its `close`. */
export class RunningComponent {
  readonly #options: RunningComponentOptions;
  readonly #settings: Settings;
  readonly #calls: UserCalls;
  readonly #metrics: MetricsReporter;
  readonly #counters: TaskCounters;
  /** Undefined where no traces are sampled. */
  readonly #tracer: TaskTracer | undefined;
  readonly #output: TupleOutput;
  readonly #accounts: TaskAccounts;
  readonly #collector: ComponentCollector;
  readonly #errors: ErrorReports;
  readonly #due: DueEvents;
  readonly #timers: ComponentTimers;
  readonly #hooks: TaskHooks;
  readonly #streams: readonly CollectedStream[];
  readonly #deadLetters: DeadLetters;
  readonly #ends: EndTracker;
  /** The context reads the newest plan from here. */
  readonly #contextSource: { plan: PlanIndex } & ContextSource;
  /** Undefined until there is a component to tell. */
  #planChange: DueEvent | undefined;
  #runner: ComponentRunner | undefined;
  #ticks: Timer | undefined;
  /** Looks for messages that have timed out. */
  #timeOuts: Timer | undefined;
  /** Settles when the run is over; never rejects. */
  #over: Promise<unknown> = Promise.resolve();

  constructor(options: RunningComponentOptions) {
    const { identity, ports, plan, clock } = options;
    this.#options = options;
    this.#contextSource = this.#newContextSource(plan);
    const declared = this.#declared;
    this.#settings = componentSettings(plan.plan.topology, declared);
    this.#calls = new UserCalls(identity, ports.status);
    this.#metrics = new MetricsReporter({
      ring: ports.metricsOut,
      clock,
      intervalMs: this.#settings.get('heron.metrics.export.interval.ms'),
      runtimeUse: options.runtimeUse,
      onError: (error) => this.#errors.add(error),
    });
    const hasHistograms = this.#settings.get('topology.metrics.histograms');
    this.#counters = new TaskCounters(this.#metrics.registry, hasHistograms, identity.task);
    this.#errors = new ErrorReports(options);
    const onSpan = (span: string): void => this.#metrics.addSpan(span);
    this.#tracer = taskTracer(options, plan.plan.topology, this.#settings, onSpan);
    this.#due = new DueEvents(() => this.#runner?.wake());
    this.#timers = new ComponentTimers(clock, this.#due);
    this.#hooks = new TaskHooks(identity.task, clock);
    this.#ends = new EndTracker(plan, identity.component);
    const isTracked = reliabilityOf(plan.plan.topology.config) === 'ATLEAST_ONCE';
    const acks = isTracked ? new AckFold() : undefined;
    this.#output = componentOutput(declared, options, {
      settings: this.#settings,
      counters: this.#counters,
      tracer: this.#tracer,
      acks,
    });
    this.#streams = collectedStreams(declared, plan, options.built, this.#counters);
    this.#deadLetters = new DeadLetters({
      ...options,
      settings: this.#settings,
      registry: this.#metrics.registry,
      streams: this.#streams,
      serializer: options.built.serializer,
      due: this.#due,
      onError: (error) => this.#errors.add(error),
    });
    this.#accounts = taskAccounts(declared, {
      ...options,
      settings: this.#settings,
      component: declared.name,
      output: this.#output,
      streams: this.#streams,
      counters: this.#counters,
      hooks: this.#hooks,
      acks,
      onError: (error) => this.#errors.add(error),
      onEndOfInput: () => this.#runner?.wake(),
      deadLetter: (message) => this.#deadLetters.give(message),
    });
    this.#collector = this.#accounts.collector;
  }

  #newContextSource(plan: PlanIndex): { plan: PlanIndex } & ContextSource {
    const { identity, logger, clock, random, workingDirectory } = this.#options;
    return {
      plan,
      task: identity.task,
      log: logger,
      clock,
      random,
      workingDirectory,
      every: (periodMs, call) => this.#timers.every(periodMs, call),
      after: (delayMs, call) => this.#timers.after(delayMs, call),
      registerMetric: (name, metric) => this.#metrics.registerUserMetric(name, metric),
      inTrace: (traceparent, call) =>
        this.#tracer === undefined ? call() : this.#tracer.inTrace(traceparent, call),
      addHook: (hook, context) => this.#addHook(hook, context),
      wake: () => this.#runner?.wake(),
    };
  }

  get #plan(): PlanIndex {
    return this.#contextSource.plan;
  }

  /** Bytes that the component has emitted and that wait outside of the ring. */
  get keptBytes(): number {
    return this.#output.keptBytes;
  }

  /** Constructs the component and calls its first method. */
  async open(): Promise<void> {
    const { identity, built, ports, logger } = this.#options;
    const factory = assertDefined(
      built.factories.get(identity.component),
      'a topology that equals the stored one has its components',
    );
    const component = await this.#calls.call('constructor', () => factory());
    const context = new TopologyContext(this.#contextSource);
    const collector = this.#tracer?.around(this.#collector, isSpout(component)) ?? this.#collector;
    attach(component, collector, context);
    await this.#calls.call('prepare', () => this.#prepareOthers(context));
    this.#planChange = {
      callback: 'update',
      run: () => {
        this.#updateChosenTasks(context);
        return component.update(context);
      },
    };
    await (isSpout(component)
      ? this.#calls.call('open', () => component.open(context))
      : this.#calls.call('prepare', () => component.prepare(context)));
    // Now that all hooks are there.
    this.#runner = isSpout(component) ? this.#spoutRunner(component) : this.#boltRunner(component);
    if (isBolt(component)) this.#startTicks(component);
    else void this.#deadLetters.start(component); // Files may be slow, and it waits for none.
    this.#metrics.start();
    logger.info('the component is open', {
      kind: kindOf(component),
      streams: streamsOf(component).map(({ stream }) => stream),
      ringBytes: ports.dataOut.bytes.length,
    });
  }

  /** Called once; `active` is false while the topology is paused. */
  run(active: boolean): Promise<'ended' | 'stopped'> {
    const running = this.#run(active);
    this.#over = running.catch(() => {}); // The caller has the error.
    return running;
  }

  setActive(active: boolean): void {
    this.#runner?.setActive(active);
  }

  /** A spout's input ends as if it had said so; a bolt's ends with that of the tasks above it. */
  drain(): void {
    if (this.#runner instanceof SpoutRunner) this.#runner.drain();
  }

  /**
   * The context shows the plan from now on; the component is told between two calls, if it is of a
   * kind that it can see. A plan without this task is not for it (P7 in task-phase.ts).
   */
  handlePlan(plan: PlanIndex): void {
    const { task } = this.#options.identity;
    const before = this.#plan.plan;
    if (plan.plan.epoch < before.epoch || plan.instanceOf(task) === undefined) return;
    this.#contextSource.plan = plan;
    this.#ends.follow(plan);
    for (const { chosenTasks } of this.#streams) chosenTasks?.follow(plan);
    const wake = (): void => this.#runner?.wake();
    heedLiveSettings(plan.plan.topology, this.#declared, { accounts: this.#accounts, wake });
    if (this.#planChange === undefined) return;
    if (visibleFacts(plan.plan) !== visibleFacts(before)) this.#due.add(this.#planChange);
  }

  /** The next tuples that it emits. */
  sample(wish: SampleWish): Promise<Sample> {
    return this.#collector.sample(wish, this.#options.clock);
  }

  get #declared(): Component {
    const { component } = this.#options.identity;
    return assertDefined(this.#plan.component(component), 'the plan has the component');
  }

  /** The author's code besides the component. */
  #prepareOthers(context: TopologyContext): void {
    const { built, logger } = this.#options;
    if (this.#settings.get('topology.debug')) this.#addHook(emitLog(logger), context);
    for (const make of built.taskHooks) this.#addHook(make(), context);
    this.#updateChosenTasks(context);
  }

  #addHook(hook: TaskHook, context: TopologyContext): void {
    this.#hooks.add(hook, context);
    this.#collector.isWatched = true;
  }

  /** Custom groupings hear of their tasks; runs the author's code. */
  #updateChosenTasks(context: TopologyContext): void {
    for (const { chosenTasks } of this.#streams) chosenTasks?.update(this.#plan, context);
  }

  stop(): void {
    this.#runner?.stop();
  }

  /** Calls the component's last method, once nothing else of it runs. */
  async close(): Promise<void> {
    await this.#over;
    this.#stopTimers();
    try {
      await this.#runner?.close();
      this.#hooks.cleanup();
    } finally {
      this.#output.flush();
      await this.#output.written();
      await this.#deadLetters.close();
      this.#metrics.close();
    }
  }

  #startTicks(bolt: AnyBolt): void {
    const intervalMs = this.#settings.get('topology.tick.tuple.freq.ms');
    if (intervalMs === undefined) return;
    const event = tickEvent({
      bolt,
      intervalMs,
      counters: this.#counters,
      onFailure: kindOf(bolt) === 'basic-bolt' ? (failure) => this.#errors.add(failure) : undefined,
    });
    this.#ticks = this.#options.clock.every(intervalMs, () => this.#due.add(event));
  }

  async #run(active: boolean): Promise<'ended' | 'stopped'> {
    const runner = assertDefined(this.#runner, 'an opened component has a runner');
    const outcome = await runner.run(active).finally(() => {
      this.#stopTimers();
      this.#output.flush(); // Also behind a call that failed: those before it have succeeded.
    });
    if (outcome === 'ended') {
      this.#output.end();
      this.#collector.end();
      this.#deadLetters.end();
      if (!(await this.#output.written())) throw nothingIsSent();
    }
    this.#metrics.report();
    return outcome;
  }

  /** Nothing is called any more but the last method. */
  #stopTimers(): void {
    this.#ticks?.cancel();
    this.#timeOuts?.cancel();
    this.#timers.close();
  }

  #spoutRunner(spout: AnySpout): SpoutRunner {
    const accounts = this.#accounts;
    assert(accounts.kind !== 'tracked-bolt', 'the plan knows that it is a spout');
    const { messages } = accounts;
    const { ports, clock } = this.#options;
    const heldTime = new HeldTime(clock);
    this.#metrics.registerUserMetric('__time-held-by-back-pressure-ms', heldTime);
    if (accounts.kind === 'tracked-spout') {
      const { messages: tracked } = accounts;
      this.#metrics.registerUserMetric('__pending-acked-count', {
        report: (to) => to.value(tracked.count),
      });
      this.#timeOuts = watchTimeOuts(tracked, {
        settings: this.#settings,
        clock,
        status: ports.status,
        wake: () => this.#runner?.wake(),
      });
    }
    const watched = this.#hooks.aroundSpout(spout, messages);
    return new SpoutRunner({
      spout: this.#tracer?.aroundSpout(watched) ?? watched,
      calls: this.#calls,
      collector: this.#collector,
      messages,
      isTracked: accounts.kind === 'tracked-spout',
      bell: ports.bell,
      output: this.#output,
      status: ports.status,
      heldTime,
      clock,
      idleBackoffMaxMs: this.#settings.get('heron.instance.idle.backoff.max.ms'),
      nextTuple: this.#counters.nextTuple(),
      sampler: this.#counters.sampler,
      due: this.#due,
    });
  }

  #boltRunner(bolt: AnyBolt): ComponentRunner {
    const { identity, ports, clock, built } = this.#options;
    return boltRunner(bolt, {
      component: identity.component,
      serializer: built.serializer,
      plan: this.#plan,
      settings: this.#settings,
      accounts: this.#accounts,
      hooks: this.#hooks,
      counters: this.#counters,
      tracer: this.#tracer,
      calls: this.#calls,
      ports,
      output: this.#output,
      ends: this.#ends,
      due: this.#due,
      clock,
      onFailure: (error) => this.#errors.add(error),
    });
  }
}
