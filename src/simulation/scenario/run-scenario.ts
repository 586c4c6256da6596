import { messageOf, stackOf } from '../../base/errors.ts';
import type { Completion } from '../../model/completion.ts';
import type { ContainerReport } from '../../model/container-report.ts';
import { Settings } from '../../model/settings.ts';
import type { Checker, FinishedRun, ProcessEnd, SimulationEvent } from '../checkers/checker.ts';
import { createCheckers } from '../checkers/checkers.ts';
import { ProcessSampler } from '../checkers/process-sampler.ts';
import { RunHistory } from '../checkers/run-history.ts';
import { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import { clusterFaults } from '../faults/cluster-faults.ts';
import { InjectedFaultsExplanation } from '../faults/explanation.ts';
import { FaultInjector } from '../faults/fault-injector.ts';
import { placeOf } from '../faults/targets.ts';
import { Kernel, type RunEnd } from '../kernel/kernel.ts';
import type { Interposer } from '../machine/interposer.ts';
import { createWorkload, type Workload } from '../workload/workload.ts';
import type { ScenarioRequest } from './examine-seed.ts';
import { giveChange } from './live-changes.ts';
import { type OperatedCluster, Operator } from './operator.ts';
import { horizonOf, type Scenario, scenarioOf, spanMsOf } from './scenario.ts';
import { stateDump } from './state-dump.ts';
import type { Problem, Verdict } from './verdict.ts';
import { WorldWatch } from './world-watch.ts';

/*
  One simulated run from its seed to its verdict:

    submit ──► the plan's faults and commands strike ──► its horizon ──► the operator tidies up
       └──────────────── the topology runs, completes or is killed, and is gone ──────────┘

  R1. Times of the plan count from the moment when the submit has succeeded.
  R2. A run that does not end by itself is ended by limits of simulated time and of events, which
      are far above what any run needs; that is a problem of its own, whatever else is found.
  R3. What watches (checkers, samples) has no effect on what happens: the log is the same without.
*/

/** After the last fault, and the time that spouts need: all back-offs and time-outs in a row. */
const RECOVERY_MS = 240_000;
/** A run has some 50,000; what takes so many goes round in circles. */
const EVENTS_MAX = 5_000_000;
const SUBMIT_MS_MAX = 60_000;
/** How often is looked whether the topology is gone, and at what only shows by looking. */
const LOOK_MS = 25;
/** How often the insides of the processes are looked at. */
const SAMPLE_MS = 100;
/** Between two attempts of the operator to tidy up. */
const TIDY_MS = 5_000;
/** For the last processes and commands to end, once the topology is gone. */
const AFTERMATH_MS = 2_000;

/** Problems of the run itself have these names in place of a checker's. */
const RUN = 'the run comes to its end';
const SUBMIT = 'the submit succeeds';
const SIMULATION = 'the simulation works';

/** The interposer, if there is one, stands between the processes and their world. */
export async function runScenario(
  request: ScenarioRequest,
  interposer: Interposer = {},
): Promise<Verdict> {
  return new ScenarioRun(scenarioOf(request), request, interposer).run();
}

class ScenarioRun {
  readonly #scenario: Scenario;
  readonly #kernel: Kernel;
  readonly #cluster: SimulatedCluster;
  readonly #workload: Workload;
  readonly #operator: Operator;
  readonly #injector: FaultInjector;
  readonly #ends: ProcessEnd[] = [];
  readonly #problems: Problem[] = [];
  readonly #sampler: ProcessSampler;
  /** Those that checkers have been told. */
  readonly #reports = new WeakSet<ContainerReport>();
  #checkers: readonly Checker[] = [];
  #history: RunHistory | undefined;
  #completion: Completion | undefined;
  #completedFromMs: number | undefined;
  #isGone = false;

  constructor(scenario: Scenario, { keepsLog = false }: ScenarioRequest, interposer: Interposer) {
    this.#scenario = scenario;
    this.#kernel = new Kernel({ seed: scenario.seed, keepsLog });
    const { hosts, settings } = scenario;
    this.#cluster = new SimulatedCluster({ kernel: this.#kernel, hosts, settings, interposer });
    this.#workload = createWorkload(scenario.workload);
    this.#workload.ledger.useClock(() => this.#kernel.nowMs);
    this.#workload.threads.connect((task) => this.#cluster.threadOf(task));
    this.#sampler = new ProcessSampler({
      workload: scenario.workload,
      tell: (event) => this.#tell(event),
      periodMs: SAMPLE_MS,
    });
    this.#operator = new Operator(operated(this.#cluster, scenario), scenario);
    const ports = clusterFaults(this.#cluster, (command) => this.#operator.give(command));
    this.#injector = new FaultInjector(ports);
  }

  async run(): Promise<Verdict> {
    try {
      const run = await this.#runToItsEnd();
      if (run !== undefined) this.#check(run);
      return this.#verdict(run?.outcome ?? 'idle');
    } catch (error) {
      this.#problems.push({ checker: SIMULATION, text: stackOf(error) });
      return this.#verdict('idle');
    }
  }

  async #runToItsEnd(): Promise<FinishedRun | undefined> {
    const cluster = this.#cluster;
    if (!(await this.#submit())) return undefined;
    this.#history = new RunHistory(cluster.packingPlan);
    this.#checkers = createCheckers({
      packing: cluster.packingPlan,
      workload: this.#scenario.workload,
      settings: this.#scenario.settings,
      control: { heartbeatPeriodMs: this.#heartbeatPeriodMs() },
    });
    const watch = new WorldWatch({
      cluster,
      tell: (event) => this.#tell(event),
      look: () => this.#look(),
      periodMs: LOOK_MS,
    });
    this.#injector.start(this.#scenario.faults);
    this.#kernel.at(horizonOf(this.#scenario), () => this.#tidyUp());
    const end = await this.#kernel.run(() => this.#isGone, {
      simulatedMsMax: this.#limitMs(),
      eventsMax: EVENTS_MAX,
    });
    this.#injector.stop();
    if (end === 'reached') await this.#kernel.advance(AFTERMATH_MS, EVENTS_MAX);
    watch.close();
    return this.#finished(end, watch, this.#history);
  }

  async #submit(): Promise<boolean> {
    let outcome: 'running' | 'done' | { readonly error: unknown } = 'running';
    this.#cluster.submit(this.#workload.topology, { activate: this.#scenario.startsActive }).then(
      () => (outcome = 'done'),
      (error: unknown) => (outcome = { error }),
    );
    const limits = { simulatedMsMax: SUBMIT_MS_MAX, eventsMax: EVENTS_MAX };
    await this.#kernel.run(() => outcome !== 'running', limits);
    const reached = outcome as 'running' | 'done' | { readonly error: unknown };
    if (reached === 'done') return true;
    const why = reached === 'running' ? 'it does not return' : messageOf(reached.error);
    this.#problems.push({ checker: SUBMIT, text: `it does not: ${why}` });
    return false;
  }

  #finished(end: RunEnd, { brokenLinks }: WorldWatch, history: RunHistory): FinishedRun {
    const cluster = this.#cluster;
    const packing = history.everything;
    const { injected } = this.#injector;
    const given = [this.#completedFromMs, this.#operator.killedFromMs];
    const known = given.filter((atMs) => atMs !== undefined);
    return {
      workload: this.#workload,
      packing,
      history,
      explanation: new InjectedFaultsExplanation({
        injected,
        brokenLinks,
        packing,
        ends: this.#ends,
      }),
      outcome: this.#outcomeOf(end),
      endedAtMs: this.#kernel.nowMs,
      takenDownFromMs: known.length === 0 ? undefined : Math.min(...known),
      completion: this.#completion,
      ends: this.#ends,
      commands: this.#operator.records,
      leftovers: cluster.leftovers(),
    };
  }

  #outcomeOf(end: RunEnd): FinishedRun['outcome'] {
    if (end !== 'reached') return end;
    return this.#completion === undefined ? 'killed' : 'completed';
  }

  #check(run: FinishedRun): void {
    const { outcome } = run;
    if (outcome !== 'completed' && outcome !== 'killed') {
      const limit = `${Math.round(this.#kernel.nowMs)} ms and ${this.#kernel.events} events`;
      this.#problems.push({ checker: RUN, text: `it did not, within ${limit} (${outcome})` });
    }
    for (const checker of this.#checkers) {
      for (const text of checker.finish(run)) {
        this.#problems.push({ checker: checker.name, text });
      }
    }
  }

  #verdict(outcome: FinishedRun['outcome']): Verdict {
    const { seed, workload, faults } = this.#scenario;
    const { log, nowMs, events } = this.#kernel;
    const cluster = this.#cluster;
    const isCut = outcome !== 'completed' && outcome !== 'killed';
    const hasDump = isCut && cluster.submitted !== undefined;
    const commands = this.#operator.records;
    const dumped = { cluster, workload: this.#workload, injected: this.#injector.injected };
    return {
      seed,
      passed: this.#problems.length === 0,
      problems: this.#problems,
      faults,
      workload,
      outcome,
      simulatedMs: nowMs,
      events,
      logHash: log.hash,
      log: log.text === '' ? undefined : log.text,
      stateDump: hasDump ? stateDump({ ...dumped, commands }) : undefined,
    };
  }

  /** What a checker throws is its own mistake, not that of the process whose event this is. */
  #tell(event: SimulationEvent): void {
    if (event.kind === 'plan' && event.process.startsWith('stmgr-')) {
      this.#history?.noteWorking(event.process, event.plan.epoch, event.atMs);
    }
    if (event.kind === 'process-end') {
      this.#noteState();
      if (placeOf(event.process) === undefined) return;
      this.#ends.push(event);
    }
    for (const checker of this.#checkers) {
      try {
        checker.observe?.(event);
      } catch (error) {
        this.#problems.push({ checker: checker.name, text: `it failed: ${stackOf(error)}` });
      }
    }
  }

  #look(): void {
    this.#noteState();
    this.#operator.look();
    const { nowMs: atMs } = this.#kernel;
    const processes = this.#cluster.processes();
    this.#sampler.look(processes, atMs);
    this.#tell({ kind: 'living', atMs, processes });
    for (const report of this.#cluster.containerReports()) {
      if (this.#reports.has(report)) continue;
      this.#reports.add(report);
      this.#tell({ kind: 'report', atMs, report });
    }
    this.#isGone ||= this.#cluster.isGone;
  }

  #noteState(): void {
    this.#notePlans();
    if (this.#completion !== undefined) return;
    this.#completion = this.#cluster.completion();
    if (this.#completion !== undefined) this.#completedFromMs = this.#kernel.nowMs;
  }

  #notePlans(): void {
    const history = this.#history;
    const { nowMs: atMs } = this.#kernel;
    const [packing, plan] = [this.#cluster.storedPacking(), this.#cluster.plan()];
    if (plan !== undefined) history?.notePlan(plan, atMs);
    if (packing !== undefined && history?.notePacking(packing, atMs) === true) {
      this.#tell({ kind: 'packing', atMs, plan: packing });
    }
  }

  #tidyUp(): void {
    if (this.#isGone) return;
    this.#operator.tidyUp();
    this.#kernel.at(TIDY_MS, () => this.#tidyUp());
  }

  #limitMs(): number {
    return horizonOf(this.#scenario) + 3 * spanMsOf(this.#scenario.workload) + RECOVERY_MS;
  }

  #heartbeatPeriodMs(): number {
    const { workload, settings } = this.#scenario;
    const config = new Map(Object.entries({ ...workload.config, ...settings }));
    return new Settings(config).get('heron.streammgr.tmanager.heartbeat.interval.ms');
  }
}

function operated(cluster: SimulatedCluster, { workload }: Scenario): OperatedCluster {
  const living = (): ReturnType<SimulatedCluster['processes']> => cluster.processes();
  return {
    get nowMs() {
      return cluster.kernel.nowMs;
    },
    command: cluster.command,
    change: (command) => giveChange(command, cluster, workload),
    topologyState: () => cluster.plan()?.topology.state,
    executors: () =>
      new Map(
        living().flatMap(({ name, pid }) => {
          const place = placeOf(name);
          return place?.role === 'executor' ? [[place.container ?? 0, pid]] : [];
        }),
      ),
    get hasScheduler() {
      return living().some(({ name }) => placeOf(name)?.role === 'scheduler');
    },
    get isGone() {
      return cluster.isGone;
    },
  };
}
