import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology } from '../find-topology.ts';
import { fetchFile } from '../inspect/fetch-file.ts';
import { findProcess, type ProcessArguments } from '../inspect/find-process.ts';

export interface HeapArguments extends ProcessArguments {
  readonly out?: string | undefined;
  /** Only figures: nothing is written, and the process does not stand still. */
  readonly figures: boolean;
}

/** What a process's heap holds: a file for Chrome and others. */
export async function heap(given: HeapArguments, context: CommandContext): Promise<CommandResult> {
  const { process } = given;
  await using found = await findTopology(given, context);
  const { client } = await findProcess(found, process);
  const { id, record } = found.status;
  const where = { name: record.name, id, ...found.place, process };
  if (given.figures) {
    const { stdout } = await client.histo(process);
    return { json: { ...where, figures: stdout.split('\n') }, text: stdout };
  }
  const inspected = await context.output.whileWaiting(`writing the heap of ${process}`, () =>
    client.heapSnapshot(process),
  );
  const file = await fetchFile(client, inspected, given.out, context.interruption);
  const { bytes } = inspected;
  return { json: { ...where, file, bytes }, text: `${bytes} bytes written to ${file}` };
}
