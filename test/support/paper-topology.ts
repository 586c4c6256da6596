import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { assertDefined } from '../../src/base/assert.ts';
import { containerId, epoch } from '../../src/base/ids.ts';
import { ownIdentity } from '../../src/base/process-identity.ts';
import { systemFiles } from '../../src/base/system-files.ts';
import { type ContainerReport, encodeContainerReport } from '../../src/model/container-report.ts';
import type { LogicalTopology } from '../../src/model/logical-topology.ts';
import type { PackingPlan } from '../../src/model/packing-plan.ts';
import type { PhysicalPlan } from '../../src/model/physical-plan.ts';
import { settledPacking } from '../../src/model/settled-packing.ts';
import { expectedProcesses } from '../../src/model/expected-processes.ts';
import { createPacking } from '../../src/packing/create.ts';
import { paths } from '../../src/state-manager/paths.ts';
import type { StateManager } from '../../src/state-manager/state-manager.ts';
import { writePidFile } from '../../src/supervision/pid-file.ts';
import { encodeExecutionState } from '../../src/wire/execution-state.ts';
import { decodePackingPlan, encodePackingPlan } from '../../src/wire/packing-plan.ts';
import { decodePhysicalPlan, encodePhysicalPlan } from '../../src/wire/physical-plan.ts';
import { encodeTopology } from '../../src/wire/topology.ts';
import { stateManagerAt } from './state-manager-at.ts';
import { STATE } from './state-nodes.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { aPhysicalPlan } from './topologies.ts';

/**
 * A topology that runs as far as commands can see, by its records alone: the test is its scheduler,
 * its executors and its topology master.
 */
export class PaperTopology {
  readonly dataRoot: string;
  readonly stateManager: StateManager;
  readonly topology: LogicalTopology;
  #epoch = 1;

  static async create(t: TestContext, topology: LogicalTopology): Promise<PaperTopology> {
    const { path } = await temporaryFolder(t);
    const paper = new PaperTopology(path, topology);
    t.after(() => paper.stateManager.close());
    await paper.#begin();
    return paper;
  }

  private constructor(dataRoot: string, topology: LogicalTopology) {
    this.dataRoot = dataRoot;
    this.topology = topology;
    this.stateManager = stateManagerAt(join(dataRoot, STATE));
  }

  async #begin(): Promise<void> {
    const { topology, stateManager } = this;
    const { name, id } = topology;
    const packing = createPacking(topology.config).pack(topology).plan;
    await stateManager.write(paths.token(name), Buffer.from('secret'));
    await stateManager.write(paths.topology(name), encodeTopology(topology));
    await stateManager.write(paths.packingPlan(name), encodePackingPlan(packing));
    const execution = {
      topologyName: name,
      topologyId: id,
      cluster: 'local',
      role: 'tester',
      environ: 'dev',
      submittedAtSeconds: 1,
      submittedBy: 'tester',
      engineVersion: '0.0.0',
    };
    await stateManager.write(paths.executionState(name), encodeExecutionState(execution));
    const folder = join(this.dataRoot, 'topologies', 'local', 'tester', name);
    await mkdir(folder, { recursive: true });
    writePidFile(systemFiles, folder, { name: 'scheduler', identity: ownIdentity() });
    await this.start();
    await this.writePlan(aPhysicalPlan(topology, packing));
  }

  /** The stored packing plan. */
  async packingPlan(): Promise<PackingPlan> {
    const bytes = await this.stateManager.read(paths.packingPlan(this.topology.name));
    return decodePackingPlan(assertDefined(bytes, 'there is a plan'));
  }

  /** The plan in force. */
  async physicalPlan(): Promise<PhysicalPlan> {
    const bytes = await this.stateManager.read(paths.physicalPlan(this.topology.name));
    return decodePhysicalPlan(assertDefined(bytes, 'there is a plan'));
  }

  async writePlan(plan: PhysicalPlan): Promise<void> {
    const next = { ...plan, epoch: epoch((this.#epoch += 1)) };
    await this.stateManager.write(paths.physicalPlan(this.topology.name), encodePhysicalPlan(next));
  }

  /** The executors: every process of the stored plan runs, but for those that `isMissing` names. */
  async start(isMissing: (process: string) => boolean = () => false): Promise<void> {
    const packing = await this.packingPlan();
    const names = expectedProcesses(packing).filter((name) => !isMissing(name));
    for (const id of [containerId(0), ...packing.containers.map((one) => one.id)]) {
      const isOwn = (name: string): boolean =>
        id === 0
          ? ['heron-tmanager', 'metricsmgr-0'].includes(name)
          : new RegExp(String.raw`^(stmgr-${id}|metricsmgr-${id}|container_${id}_.*)$`).test(name);
      await this.report({
        containerId: id,
        host: 'here',
        pid: 1,
        startedAtMs: 1,
        processes: names.filter(isOwn).map((name) => ({
          name,
          pid: 2,
          state: 'running',
          restarts: 0,
          startedAtMs: 1,
          readyAtMs: 2,
        })),
      });
    }
  }

  /** A process of container 1 has died too often. */
  async fail(name: string, lastLines: readonly string[]): Promise<void> {
    const exit = { code: 70, signal: null, atMs: 3, reason: 'failed', lastLines };
    await this.report({
      containerId: containerId(1),
      host: 'here',
      pid: 1,
      startedAtMs: 1,
      processes: [
        { name, pid: null, state: 'failed', restarts: 9, startedAtMs: 1, lastExit: exit },
      ],
    });
  }

  async report(report: ContainerReport): Promise<void> {
    const path = paths.container(this.topology.name, report.containerId);
    await this.stateManager.write(path, encodeContainerReport(report));
  }

  /** The master: the stored plan is in force, with what retires. */
  async adopt(): Promise<void> {
    const { topology } = await this.physicalPlan();
    await this.writePlan(aPhysicalPlan(topology, await this.packingPlan()));
  }

  /** The master: what retires has ended. */
  async retire(): Promise<void> {
    const plan = await this.physicalPlan();
    const instances = plan.instances.filter(({ isRetiring }) => isRetiring !== true);
    await this.writePlan({ ...plan, instances });
  }

  /** The master and the executors: the records of what has retired go. */
  async settle(): Promise<void> {
    const plan = settledPacking(await this.packingPlan());
    const path = paths.packingPlan(this.topology.name);
    await this.stateManager.write(path, encodePackingPlan(plan));
    const folder = paths.containers(this.topology.name);
    for (const container of await this.stateManager.list(folder)) {
      await this.stateManager.delete(`${folder}/${container}`);
    }
    await this.start();
  }
}
