import { userError } from '../../base/errors.ts';
import type { LogLevel } from '../../base/logger.ts';
import { componentName } from '../../base/ids.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology, type TopologyArguments } from '../find-topology.ts';
import { runningId } from '../running-id.ts';
import { changeConfig } from '../update/change-config.ts';

export interface LogLevelArguments extends TopologyArguments {
  readonly level: LogLevel;
  /** The whole topology unless given. */
  readonly component?: string | undefined;
}

const KEY = 'topology.log.level';

/** Which lines are written from now on: what `heron update --runtime-config` does, for one key. */
export async function logLevel(
  given: LogLevelArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const { level, component } = given;
  await using found = await findTopology(given, context);
  runningId(found);
  const { topology, name } = found.status.record;
  if (topology === undefined) {
    throw userError('TOPOLOGY_NOT_READY', `${name} has no definition: nothing runs`);
  }
  const whose = component === undefined ? '' : `${componentName(component)}:`;
  const change = { runtimeConfig: [`${whose}${KEY}:${level}`], dryRun: undefined };
  return await changeConfig(change, topology, found, context);
}
