import type { Checker, FinishedRun } from './checker.ts';

/**
 * A topology that has come to its end leaves nothing but its completion record: no process, no node
 * of the state tree, no file.
 */
export class LeftoverChecker implements Checker {
  readonly name = 'nothing is left behind';

  finish({ outcome, leftovers }: FinishedRun): readonly string[] {
    if (outcome !== 'completed' && outcome !== 'killed') return [];
    const { processes, stateNodes, files } = leftovers;
    return [
      ...list('processes', processes),
      ...list('nodes of the state tree', stateNodes),
      ...list('files', files),
    ];
  }
}

function list(what: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${what} are left: ${names.join(', ')}`];
}
