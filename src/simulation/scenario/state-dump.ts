import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { InjectedFault } from '../faults/injected-fault.ts';
import type { Workload } from '../workload/workload.ts';
import type { CommandRecord } from '../checkers/checker.ts';

export interface DumpedRun {
  readonly cluster: SimulatedCluster;
  readonly workload: Workload;
  readonly injected: readonly InjectedFault[];
  readonly commands: readonly CommandRecord[];
}

/** What everyone was doing when a limit ended a run that should have ended by itself. */
export function stateDump({ cluster, workload, injected, commands }: DumpedRun): string {
  const { kernel } = cluster;
  return [
    `state at ${kernel.nowMs.toFixed(3)} ms after ${kernel.events} events:`,
    ...section('faults that struck', injected.map(faultLine)),
    ...section(
      'commands',
      commands.map((record) => JSON.stringify(record)),
    ),
    ...section('processes', cluster.processes().map(processLine)),
    ...section('ends of processes', cluster.exits().map(exitLine)),
    ...section('connections', connectionLines(cluster)),
    ...section('tasks', taskLines(workload)),
    ...section('state tree', stateLines(cluster)),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return [
    `  ${title}:`,
    ...(lines.length === 0 ? ['    none'] : lines.map((line) => `    ${line}`)),
  ];
}

function faultLine({ fault, atMs, processes, ends }: InjectedFault): string {
  const hit = ends === undefined ? processes.join(' ') : ends.map(listed).join(' and ');
  return `${atMs.toFixed(3)} ms ${JSON.stringify(fault)} hit ${hit || 'nobody in particular'}`;
}

function listed(names: readonly string[]): string {
  return names.join(' ') || 'nobody';
}

type Process = ReturnType<SimulatedCluster['processes']>[number];

function processLine({ name, pid, state }: Process): string {
  return `${name} (${pid}) ${state}`;
}

type Exit = ReturnType<SimulatedCluster['exits']>[number];

function exitLine({ name, pid, atMs, reason }: Exit): string {
  return `${atMs.toFixed(3)} ms ${name} (${pid}) ${reason}`;
}

function connectionLines({ machine }: SimulatedCluster): readonly string[] {
  return machine.network
    .connections()
    .map(
      ({ number, from, to, bufferedBytes, isHalfOpen }) =>
        `${number} ${from.process} - ${to.process}, ${bufferedBytes} bytes under way` +
        (isHalfOpen ? ', half-open' : ''),
    );
}

function taskLines({ ledger }: Workload): readonly string[] {
  return ledger.lives.map(({ task, component, openedAtMs, finishCalls, endedAtMs, threwAtMs }) => {
    const facts = { openedAtMs, finishCalls, endedAtMs, threwAtMs };
    return `task ${task} of ${component}: ${JSON.stringify(facts)}`;
  });
}

function stateLines(cluster: SimulatedCluster): readonly string[] {
  const plan = cluster.plan();
  const completion = cluster.completion();
  return [
    plan === undefined ? 'no physical plan' : `plan ${plan.epoch}, topology ${plan.topology.state}`,
    completion === undefined ? 'no completion' : `completion ${JSON.stringify(completion)}`,
    ...cluster.containerReports().map((report) => JSON.stringify(report)),
  ];
}
