import type { Clock, Timer } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import { EXIT } from '../base/exit-codes.ts';
import type { Files } from '../base/files.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import { retry } from '../base/retry.ts';
import {
  type ContainerReport,
  encodeContainerReport,
  type ProcessExit,
} from '../model/container-report.ts';
import { isOlderPackingPlan, type PackingPlan } from '../model/packing-plan.ts';
import { isMeant, parseRestartRequest, type RestartRequest } from '../model/restart-request.ts';
import type { Settings } from '../model/settings.ts';
import { paths } from '../state-manager/paths.ts';
import type { StateManager, Watch } from '../state-manager/state-manager.ts';
import { startFileBeat } from '../supervision/beat-file.ts';
import type { ProcessTable } from '../supervision/process-table.ts';
import { ReportPublisher } from '../supervision/report-publisher.ts';
import { restartPolicyOf } from '../supervision/restart-policy.ts';
import { childLimitMs } from '../supervision/shutdown-limits.ts';
import { decodePackingPlan } from '../wire/packing-plan.ts';
import type { HttpServer, ListenHttp } from '../net/http-rules.ts';
import type { ChosenPorts } from './container-ports.ts';
import { ContainerProcesses, type LaunchProcess } from './container-processes.ts';
import { type ExecutorArguments, executorNameOf } from './executor-arguments.ts';
import { endLeftovers, historyOf, type ProcessHistory } from './predecessor.ts';
import { openShell } from './shell.ts';
import { type ContainerPorts, type WantedProcess, wantedProcesses } from './wanted-processes.ts';

/*
  The supervisor of one container: watches the packing plan, runs the processes that it asks for,
  and reports on them. It starts nothing before it has seen the first plan, and takes nothing down
  because the plan is gone or damaged: that is for whoever ends the topology to do. When its
  container leaves the plan it ends the container's processes and waits to be ended itself.

  X1. The processes of a dead predecessor are gone before the first process is started.
  X2. All processes of the container know the same ports. When one of them finds its port taken, all
      move to others; the restart policy of the one that complained limits how often.
  X3. A restart that was asked for happens once, however often the request is read: it names the
      life of the process that is to end.
  X4. Plans only go forwards: one with a lower epoch than the last one is passed over.
  X5. It beats once it does its work, and until all of that has ended: an executor that never gets
      to its work, whatever holds it up, is replaced by its scheduler.
*/

/** In the report of a process. */
const RESTART_REASON = 'restart asked for';

export interface ExecutorOptions {
  readonly arguments: ExecutorArguments;
  readonly pid: number;
  readonly settings: Settings;
  readonly stateManager: StateManager;
  readonly files: Files;
  readonly processes: ProcessTable;
  readonly launch: LaunchProcess;
  readonly choosePorts: () => Promise<ChosenPorts>;
  /** Of the shell, which is only there with a token. */
  readonly listenHttp: ListenHttp;
  readonly token: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** For failures after the start that leave nothing to supervise. */
  readonly onFailure: (error: unknown) => void;
}

export class Executor {
  readonly #options: ExecutorOptions;
  readonly #startedAtMs: number;
  readonly #reportPath: string;
  readonly #reports: ReportPublisher;
  #processes: ContainerProcesses | undefined;
  #watches: readonly Watch[] = [];
  #plan: PackingPlan | undefined;
  #planProblem: string | undefined;
  #ports: ContainerPorts | undefined;
  #shell: HttpServer | undefined;
  #isChoosingPorts = false;
  #beat: Timer | undefined;
  #isStopped = false;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    const { clock, logger, stateManager } = options;
    const { topologyName, containerId } = options.arguments;
    this.#startedAtMs = clock.wallNow();
    this.#reportPath = paths.container(topologyName, containerId);
    this.#reports = new ReportPublisher({
      write: () => stateManager.write(this.#reportPath, encodeContainerReport(this.report)),
      clock,
      logger,
    });
  }

  get report(): ContainerReport {
    const { pid, arguments: args } = this.#options;
    const { containerId, host } = args;
    return {
      containerId,
      host,
      pid,
      startedAtMs: this.#startedAtMs,
      ...(this.#shell !== undefined && { shellPort: this.#shell.port }),
      processes: this.#processes?.reports ?? [],
      ...(this.#planProblem !== undefined && { problem: this.#planProblem }),
    };
  }

  /** @throws EngineError STATE_UNAVAILABLE when the state manager stays away too long. */
  async start(): Promise<void> {
    const { arguments: args, clock, logger, settings, stateManager } = this.#options;
    const graceMs = settings.get('heron.shutdown.grace.ms');
    await endLeftovers(args.workingDirectory, { ...this.#options, graceMs });
    const lastReport = await retry(() => stateManager.read(this.#reportPath), {
      ...this.#options,
      what: 'read the last report',
      limitMs: settings.get('heron.check.tmanager.location.interval.ms'),
    });
    this.#processes = this.#createProcesses(
      historyOf(lastReport, { nowMs: clock.wallNow(), logger }),
    );
    this.#shell = await this.#openShell(this.#processes);
    if (this.#isStopped) return await this.#shell?.close();
    this.#ports = await this.#choosePorts();
    if (this.#isStopped) return;
    this.#reports.changed();
    const { topologyName, containerId } = args;
    this.#watches = [
      stateManager.watch(paths.packingPlan(topologyName), (bytes) => this.#onPlan(bytes)),
      stateManager.watch(paths.restart(topologyName, containerId), (bytes) =>
        this.#onRestartRequest(bytes),
      ),
    ];
    const silenceMs = settings.get('heron.scheduler.executor.silence.ms');
    this.#beat = startFileBeat({ ...this.#options, folder: args.workingDirectory }, silenceMs);
  }

  /** Ends all processes, then removes the report. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const watch of this.#watches) watch.close();
    await this.#shell?.close();
    await this.#processes?.stopAll();
    this.#beat?.cancel();
    await this.#reports.close();
    await this.#options.stateManager.delete(this.#reportPath);
  }

  async #choosePorts(): Promise<ContainerPorts> {
    return { ...(await this.#options.choosePorts()), shell: this.#shell?.port ?? 0 };
  }

  /** The container runs without one when it cannot listen. */
  async #openShell(processes: ContainerProcesses): Promise<HttpServer | undefined> {
    const { arguments: args, pid, token, logger } = this.#options;
    if (token === undefined) return undefined;
    try {
      return await openShell({
        ...this.#options,
        token,
        host: args.host,
        folder: args.workingDirectory,
        executorName: executorNameOf(args.containerId),
        executorPid: pid,
        processes: {
          reports: () => processes.reports,
          isInstance: (name) => processes.isInstance(name),
          handleOf: (name) => processes.handleOf(name),
          withSilence: (name, work) => processes.withSilence(name, work),
        },
      });
    } catch (error) {
      logger.error('the container has no shell', { reason: messageOf(error) });
      return undefined;
    }
  }

  #createProcesses(history: ProcessHistory): ContainerProcesses {
    const { settings, launch, clock, random, logger } = this.#options;
    return new ContainerProcesses({
      launch,
      history,
      policy: restartPolicyOf(settings),
      graceMs: childLimitMs(settings.get('heron.shutdown.grace.ms')),
      silenceMs: settings.get('heron.executor.child.silence.ms'),
      clock,
      random,
      logger,
      onChange: () => this.#reports.changed(),
      onDeath: (_process, exit) => this.#onDeath(exit),
    });
  }

  #onPlan(bytes: Uint8Array | undefined): void {
    const { logger } = this.#options;
    if (bytes === undefined) {
      logger.info('there is no packing plan; waiting for one');
      return;
    }
    let plan: PackingPlan;
    try {
      plan = decodePackingPlan(bytes);
    } catch (error) {
      const reason = messageOf(error);
      logger.error('the packing plan cannot be read; waiting for another one', { reason });
      this.#planProblem = `the packing plan cannot be read: ${reason}`;
      this.#reports.changed();
      return;
    }
    this.#planProblem = undefined;
    if (isOlderPackingPlan(plan, this.#plan)) {
      const facts = { epoch: plan.epoch, knownEpoch: this.#plan?.epoch };
      logger.warn('an old packing plan is passed over', facts);
      return;
    }
    this.#plan = plan;
    this.#converge();
  }

  /** X3 */
  #onRestartRequest(bytes: Uint8Array | undefined): void {
    if (bytes === undefined || this.#isStopped) return;
    const { logger } = this.#options;
    let request: RestartRequest;
    try {
      request = parseRestartRequest(bytes);
    } catch (error) {
      logger.error('the restart request is passed over', { reason: messageOf(error) });
      return;
    }
    if (!this.report.processes.some((process) => isMeant(request, process))) {
      logger.info('a restart request is done already', { child: request.process });
      return;
    }
    logger.info('process is restarted on request', { child: request.process });
    this.#processes?.restart(request.process, RESTART_REASON);
  }

  #onDeath(exit: ProcessExit): void {
    if (exit.code !== EXIT.portInUse || this.#isChoosingPorts) return;
    this.#isChoosingPorts = true;
    void this.#moveToOtherPorts().catch((error: unknown) => this.#options.onFailure(error));
  }

  /** X2: the one that complained is in its back-off and comes back with the new ports as well. */
  async #moveToOtherPorts(): Promise<void> {
    const { logger } = this.#options;
    this.#ports = await this.#choosePorts();
    this.#isChoosingPorts = false;
    logger.warn('a port is in use: the container moves to other ports', { ports: this.#ports });
    this.#converge();
  }

  #converge(): void {
    if (this.#plan === undefined || this.#ports === undefined || this.#isStopped) return;
    const { settings } = this.#options;
    const wanted: readonly WantedProcess[] = wantedProcesses(
      this.#plan,
      this.#options.arguments,
      this.#ports,
      { hasMetricsCache: settings.get('heron.topology.metricscachemgr.mode') === 'cluster' },
    );
    this.#processes?.converge(wanted);
    this.#reports.changed();
  }
}
