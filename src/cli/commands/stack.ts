import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology } from '../find-topology.ts';
import { findProcess, type ProcessArguments } from '../inspect/find-process.ts';

/** Where the main thread of a process is at this moment. */
export async function stack(
  given: ProcessArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const { process } = given;
  await using found = await findTopology(given, context);
  const { client } = await findProcess(found, process);
  const { stdout } = await client.stack(process);
  const { id, record } = found.status;
  const lines = stdout.split('\n');
  return { json: { name: record.name, id, ...found.place, process, stack: lines }, text: stdout };
}
