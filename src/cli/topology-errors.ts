import { messageOf } from '../base/errors.ts';
import type { StateManager } from '../state-manager/state-manager.ts';
import {
  findMaster,
  readExceptions,
  type ReportedException,
} from '../topology-client/master-client.ts';
import type { TopologyStatus } from './read-status.ts';

/** What user code did wrong, as the topology master has been told. */
export interface TopologyErrors {
  /** Calls of user code that did not return in time; they may have done so since. */
  readonly blocked: readonly ShownError[];
  readonly exceptions: readonly ShownError[];
  /** Why there is nothing to show; null when the master has answered. */
  readonly unknownBecause: string | null;
}

export interface ShownError {
  readonly component: string;
  readonly instance: string;
  readonly count: number;
  readonly firstAt: string;
  readonly lastAt: string;
  readonly message: string;
  readonly stack: string;
}

/** What the gateways of blocked tasks begin their report with. */
const BLOCKED = 'BlockedTask: ';

/** Asks the master; a master that is away costs its answers only. */
export async function readErrors(
  stateManager: StateManager,
  { id, record }: TopologyStatus,
): Promise<TopologyErrors> {
  try {
    const master = id && (await findMaster(stateManager, record.name, id));
    if (!master) return nothing('no topology master is there');
    const names = record.topology?.components.map(({ name }) => name) ?? [];
    const answers = await Promise.all(names.map((name) => readExceptions(master, name)));
    const shown = answers
      .flat()
      .map(shownError)
      .toSorted((a, b) => (a.lastAt < b.lastAt ? 1 : -1));
    const isBlocked = ({ stack }: ShownError): boolean => stack.startsWith(BLOCKED);
    return {
      blocked: shown.filter(isBlocked),
      exceptions: shown.filter((error) => !isBlocked(error)),
      unknownBecause: null,
    };
  } catch (error) {
    return nothing(messageOf(error));
  }
}

function nothing(unknownBecause: string): TopologyErrors {
  return { blocked: [], exceptions: [], unknownBecause };
}

function shownError(exception: ReportedException): ShownError {
  const { componentName, instanceId, count, firsttime, lasttime, stacktrace } = exception;
  const [message = ''] = stacktrace.split('\n');
  return {
    component: componentName,
    instance: instanceId,
    count,
    firstAt: firsttime,
    lastAt: lasttime,
    message,
    stack: stacktrace,
  };
}
