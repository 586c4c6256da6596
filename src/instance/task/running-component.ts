import {
  type AnyBolt,
  type AnySpout,
  attach,
  isSpout,
  kindOf,
  streamsOf,
} from '../../api/component-runtime.ts';
import { type ContextSource, TopologyContext } from '../../api/topology-context.ts';
import type { BuiltTopology } from '../../api/topology.ts';
import { assertDefined } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import { Settings } from '../../model/settings.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { ToGateway } from '../thread-channel.ts';
import { BoltRunner } from './bolt-runner.ts';
import type { ComponentRunner } from './component-runner.ts';
import { EndTracker } from './end-tracker.ts';
import { ErrorReports } from './error-reports.ts';
import { GroupingFields } from './grouping-fields.ts';
import { MetricsReporter } from './metrics-reporter.ts';
import { nothingIsSent, type RoomWait } from './room-wait.ts';
import { SpoutRunner } from './spout-runner.ts';
import { TaskCollector } from './task-collector.ts';
import { TaskCounters } from './task-counters.ts';
import type { TaskPorts } from './task-ports.ts';
import { TupleInput } from './tuple-input.ts';
import { TupleOutput } from './tuple-output.ts';
import { UserCalls } from './user-calls.ts';

export interface RunningComponentOptions {
  readonly identity: InstanceIdentity;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly send: (message: ToGateway) => void;
  readonly built: BuiltTopology;
  readonly ports: TaskPorts;
  readonly roomWait: RoomWait;
  readonly plan: PlanIndex;
}

/** One component of the user, joined to the rings; lives from its construction to its `close`. */
export class RunningComponent {
  readonly #options: RunningComponentOptions;
  readonly #settings: Settings;
  readonly #calls: UserCalls;
  readonly #metrics: MetricsReporter;
  readonly #counters: TaskCounters;
  readonly #output: TupleOutput;
  readonly #collector: TaskCollector;
  readonly #errors: ErrorReports;
  /** The context reads the newest plan from here. */
  readonly #contextSource: { plan: PlanIndex } & ContextSource;
  #runner: ComponentRunner | undefined;
  /** Settles when the run is over; never rejects. */
  #over: Promise<unknown> = Promise.resolve();

  constructor(options: RunningComponentOptions) {
    const { identity, ports, plan, clock } = options;
    const declared = assertDefined(
      plan.component(identity.component),
      'the plan has the component',
    );
    this.#options = options;
    this.#settings = new Settings(plan.plan.topology.config, declared.config);
    this.#calls = new UserCalls(identity, ports.status);
    this.#metrics = new MetricsReporter({
      ring: ports.metricsOut,
      clock,
      intervalMs: this.#settings.get('heron.metrics.export.interval.ms'),
    });
    this.#counters = new TaskCounters(this.#metrics.registry);
    this.#errors = new ErrorReports(options);
    this.#contextSource = {
      plan,
      task: identity.task,
      log: options.logger,
      clock,
      registerMetric: (name, metric) => this.#metrics.registerUserMetric(name, metric),
      wake: () => this.#runner?.wake(),
    };
    const headers = new StreamHeaders();
    this.#output = new TupleOutput({
      ring: ports.dataOut,
      task: identity.task,
      headers: declared.outputs.map(({ stream }) => headers.of(declared.name, stream)),
      tupleBytesMax: this.#settings.get('heron.instance.set.data.tuple.size.bytes'),
      roomWait: options.roomWait,
      clock,
      sendLargeSet: (bytes) => options.send({ kind: 'large-set', bytes }),
    });
    this.#collector = new TaskCollector({
      output: this.#output,
      streams: declared.outputs.map((output) => ({
        isRead: plan.consumersOf(declared.name, output.stream).length > 0,
        groupingFields: new GroupingFields(plan, declared.name, output),
        emitCount: this.#counters.emitted(output.stream),
      })),
      counters: this.#counters,
      onError: (error) => this.#errors.add(error),
      onEndOfInput: () => this.#runner?.wake(),
    });
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
    this.#runner = isSpout(component) ? this.#spoutRunner(component) : this.#boltRunner(component);
    attach(component, this.#collector, context);
    await (isSpout(component)
      ? this.#calls.call('open', () => component.open(context))
      : this.#calls.call('prepare', () => component.prepare(context)));
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

  handlePlan(plan: PlanIndex): void {
    if (plan.plan.epoch >= this.#plan.plan.epoch) this.#contextSource.plan = plan;
  }

  stop(): void {
    this.#runner?.stop();
  }

  /** Calls the component's last method, once nothing else of it runs. */
  async close(): Promise<void> {
    await this.#over;
    try {
      await this.#runner?.close();
    } finally {
      this.#output.flush();
      await this.#output.written();
      this.#metrics.close();
    }
  }

  async #run(active: boolean): Promise<'ended' | 'stopped'> {
    const runner = assertDefined(this.#runner, 'an opened component has a runner');
    const outcome = await runner.run(active);
    if (outcome === 'ended') {
      this.#output.end();
      this.#collector.end();
      if (!(await this.#output.written())) throw nothingIsSent();
    } else this.#output.flush();
    this.#metrics.report();
    return outcome;
  }

  #spoutRunner(spout: AnySpout): SpoutRunner {
    return new SpoutRunner({
      spout,
      calls: this.#calls,
      collector: this.#collector,
      output: this.#output,
      status: this.#options.ports.status,
      clock: this.#options.clock,
      idleBackoffMaxMs: this.#settings.get('heron.instance.idle.backoff.max.ms'),
      nextTupleLatencyNs: this.#counters.nextTupleLatencyNs,
    });
  }

  #boltRunner(bolt: AnyBolt): BoltRunner {
    const { identity, ports, clock } = this.#options;
    return new BoltRunner({
      bolt,
      survivesFailures: kindOf(bolt) === 'basic-bolt',
      calls: this.#calls,
      ring: ports.dataIn,
      largeSets: ports.largeSets,
      bell: ports.bell,
      input: new TupleInput(this.#plan, this.#counters),
      output: this.#output,
      ends: new EndTracker(this.#plan.upstreamTasks(identity.component)),
      status: ports.status,
      clock,
      onFailure: (error) => this.#errors.add(error),
    });
  }
}
