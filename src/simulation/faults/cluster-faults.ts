import { join } from 'node:path';
import { paths } from '../../state-manager/paths.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import { STATE_ROOT } from '../cluster/command-process.ts';
import type { FaultCommand } from './fault.ts';
import type { FaultPorts, Undo } from './fault-injector.ts';
import type { NamedEnds } from './injected-fault.ts';
import { duplicateName, isDuplicate, placeOf } from './targets.ts';

/** The faults that a simulated cluster can be made to have; commands go to whoever gives them. */
export function clusterFaults(
  cluster: SimulatedCluster,
  giveCommand: (command: FaultCommand) => void,
): FaultPorts {
  const { kernel, machine } = cluster;
  const { network, disk } = machine;
  return {
    get nowMs() {
      return kernel.nowMs;
    },
    at: (delayMs, call) => kernel.at(delayMs, call),
    names: () => cluster.processes().map(({ name }) => name),
    kill: (name) => void cluster.kill(name),
    pause: (name) => void cluster.pause(name),
    resume: (name) => void cluster.resume(name),
    startDuplicateMaster: () => startDuplicateMaster(cluster),
    loseMasterNode: () =>
      void disk.tree.removeTree(join(STATE_ROOT, paths.topologyMaster(cluster.topologyName))),
    slowLinks: ([from, to], extraMs) =>
      healing(network.faults.delay({ from, to, delayMs: extraMs, jitterMs: extraMs / 2 })),
    dropConnections: (ends) => {
      for (const number of connectionsBetween(cluster, ends)) network.drop(number);
    },
    halfOpen: (ends) => {
      const dead = connectionsBetween(cluster, ends);
      for (const number of dead) network.halfOpen(number);
      return () => {
        for (const number of dead) network.drop(number);
      };
    },
    blackHole: ([from, to]) => {
      for (const number of connectionsBetween(cluster, [from, to])) network.halfOpen(number);
      return healing(network.faults.partition({ from, to }));
    },
    partition: ([from, to], { oneWay }) =>
      healing(network.faults.partition({ from, to, isOneWay: oneWay })),
    slowDisk: (extraMs) => healing(disk.faults.slow({ delayMs: extraMs })),
    fillDisk: () => healing(disk.faults.full()),
    stopStore: (how) => healing(disk.faults.outage({ kind: how, below: STATE_ROOT })),
    stepWallClock: (byMs) => machine.wallClock.step(byMs),
    command: giveCommand,
  };
}

const PORT_FLAG = /^--(?:server|controller|stats)-port=/;

/** As on another machine that was given the same work: its ports are its own. */
function startDuplicateMaster(cluster: SimulatedCluster): void {
  const master = cluster.processes().find(({ name }) => placeOf(name)?.role === 'topology-master');
  // One more is enough: a third would be just like the second.
  if (master === undefined || cluster.processes().some(({ name }) => isDuplicate(name))) return;
  const { command } = master;
  cluster.machine.start({
    ...command,
    name: duplicateName(command.name),
    arguments: command.arguments.map((argument) =>
      PORT_FLAG.test(argument) ? argument.replace(/=.*/, '=0') : argument,
    ),
  });
}

function connectionsBetween(
  { machine }: SimulatedCluster,
  [some, others]: NamedEnds,
): readonly number[] {
  return machine.network.connectionsBetween(some, others);
}

function healing(fault: { heal(): void }): Undo {
  return () => fault.heal();
}
