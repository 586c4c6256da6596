import {
  type AnyBolt,
  type AnyComponent,
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
import { messageOf, toEnvelope } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import type { PlanIndex } from '../../model/plan-index.ts';
import { Settings } from '../../model/settings.ts';
import { StreamHeaders } from '../../wire/stream-header.ts';
import type { InstanceIdentity } from '../instance-identity.ts';
import type { ToGateway } from '../thread-channel.ts';
import { BoltRunner } from './bolt-runner.ts';
import type { ComponentRunner } from './component-runner.ts';
import { EndTracker } from './end-tracker.ts';
import { MetricsReporter } from './metrics-reporter.ts';
import { BlockingRoomWait } from './room-wait.ts';
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
  /** The context reads the newest plan from here. */
  readonly #contextSource: { plan: PlanIndex } & ContextSource;
  #component: AnyComponent | undefined;
  #runner: ComponentRunner | undefined;

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
      roomWait: new BlockingRoomWait(ports.dataOut, ports.status),
      clock,
      sendLargeSet: (bytes) => options.send({ kind: 'large-set', bytes }),
    });
    this.#collector = new TaskCollector({
      output: this.#output,
      streams: declared.outputs.map(({ stream }) => ({
        isRead: plan.consumersOf(declared.name, stream).length > 0,
        emitCount: this.#counters.emitted(stream),
      })),
      counters: this.#counters,
      onError: (error) => this.#report(error),
      onEndOfInput: () => this.#runner?.wake(),
    });
  }

  get #plan(): PlanIndex {
    return this.#contextSource.plan;
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
    this.#component = component;
    this.#runner = isSpout(component) ? this.#spoutRunner(component) : this.#boltRunner(component);
    attach(component, this.#collector, context);
    await this.#calls.call('open', () =>
      isSpout(component) ? component.open(context) : component.prepare(context),
    );
    this.#metrics.start();
    logger.info('the component is open', {
      kind: kindOf(component),
      streams: streamsOf(component).map(({ stream }) => stream),
      ringBytes: ports.dataOut.bytes.length,
    });
  }

  async run(): Promise<'ended' | 'stopped'> {
    const runner = assertDefined(this.#runner, 'an opened component has a runner');
    const outcome = await runner.run();
    if (outcome === 'ended') this.#output.end();
    else this.#output.flush();
    this.#metrics.report();
    return outcome;
  }

  async setActive(active: boolean): Promise<void> {
    await this.#runner?.setActive(active);
  }

  handlePlan(plan: PlanIndex): void {
    if (plan.plan.epoch >= this.#plan.plan.epoch) this.#contextSource.plan = plan;
  }

  handleLargeSet(bytes: Uint8Array): void {
    if (this.#runner instanceof BoltRunner) this.#runner.handleLargeSet(bytes);
  }

  stop(): void {
    this.#runner?.stop();
  }

  /** Calls the component's last method, once nothing else of it runs. */
  async close(): Promise<void> {
    if (this.#component !== undefined) await this.#runner?.close();
    this.#output.flush();
    this.#metrics.close();
  }

  #spoutRunner(spout: AnySpout): SpoutRunner {
    return new SpoutRunner(
      {
        spout,
        calls: this.#calls,
        collector: this.#collector,
        output: this.#output,
        status: this.#options.ports.status,
        clock: this.#options.clock,
        idleBackoffMaxMs: this.#settings.get('heron.instance.idle.backoff.max.ms'),
        nextTupleLatencyNs: this.#counters.nextTupleLatencyNs,
      },
      this.#plan.plan.topology.state === 'RUNNING',
    );
  }

  #boltRunner(bolt: AnyBolt): BoltRunner {
    const { identity, ports, clock } = this.#options;
    return new BoltRunner({
      bolt,
      survivesFailures: kindOf(bolt) === 'basic-bolt',
      calls: this.#calls,
      ring: ports.dataIn,
      bell: ports.bell,
      input: new TupleInput(this.#plan, this.#counters),
      output: this.#output,
      ends: new EndTracker(this.#plan.upstreamTasks(identity.component)),
      status: ports.status,
      clock,
      onFailure: (error) => this.#report(error),
    });
  }

  /** An error that does not end the instance. */
  #report(error: unknown): void {
    this.#options.logger.error(messageOf(error), { error });
    this.#options.send({ kind: 'exception', error: toEnvelope(error), logging: '' });
  }
}
