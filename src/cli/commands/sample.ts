import { isoTime } from '../../base/iso-time.ts';
import type { Sample, SampledTuple } from '../../model/sample.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology } from '../find-topology.ts';
import { findProcess, type ProcessArguments } from '../inspect/find-process.ts';

export interface SampleArguments extends ProcessArguments {
  readonly stream?: string | undefined;
  readonly count: number;
  readonly seconds: number;
}

/** The next tuples that an instance emits. */
export async function sample(
  given: SampleArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const { process, stream, count, seconds } = given;
  await using found = await findTopology(given, context);
  const { client } = await findProcess(found, process);
  const wish = { count, seconds, ...(stream !== undefined && { stream }) };
  const taken = await context.output.whileWaiting(`waiting for ${count} tuples`, () =>
    client.sample(process, wish),
  );
  const { id, record } = found.status;
  return {
    json: { name: record.name, id, ...found.place, process, ...taken },
    text: textOf(taken, given),
  };
}

function textOf(
  { tuples, fields }: Sample,
  { process, seconds }: Pick<SampleArguments, 'process' | 'seconds'>,
): string {
  if (tuples.length === 0) return `${process} emitted nothing in ${seconds} s`;
  return tuples.map((tuple) => lineOf(tuple, fields[tuple.stream] ?? [])).join('\n');
}

function lineOf(
  { stream, values, atMs, messageId, roots, tasks }: SampledTuple,
  fields: readonly string[],
): string {
  const named = values.map((value, at) => `${fields[at] ?? at}=${JSON.stringify(value)}`);
  const facts = [
    ...(messageId === undefined ? [] : [`message ${messageId}`]),
    ...(roots === undefined ? [] : [`tree ${roots.join(', ')}`]),
    ...(tasks === undefined ? [] : [`to task ${tasks.join(', ')}`]),
  ];
  const more = facts.length === 0 ? '' : `  (${facts.join('; ')})`;
  return `${isoTime(atMs)} ${stream}: ${named.join(' ')}${more}`;
}
