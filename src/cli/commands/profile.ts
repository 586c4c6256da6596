import { readFile, writeFile } from 'node:fs/promises';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { findTopology } from '../find-topology.ts';
import { type Call, callTreeOf, hottest, isIdle } from '../inspect/call-tree.ts';
import { fetchFile } from '../inspect/fetch-file.ts';
import { findProcess, type ProcessArguments } from '../inspect/find-process.ts';
import { flameGraph } from '../inspect/flame-graph.ts';
import { textTable } from '../text-table.ts';

export interface ProfileArguments extends ProcessArguments {
  readonly seconds: number;
  readonly out?: string | undefined;
  /** Also an HTML page beside the profile. */
  readonly flame: boolean;
}

/** As many as fit on a screen. */
const HOTTEST_MAX = 15;

/** Where a process spends its time: a file for Chrome and others, and the hottest functions. */
export async function profile(
  given: ProfileArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const { output, interruption } = context;
  const { process, seconds } = given;
  await using found = await findTopology(given, context);
  const { client } = await findProcess(found, process);
  const inspected = await output.whileWaiting(`profiling ${process} for ${seconds} s`, () =>
    client.profile(process, { seconds }),
  );
  const file = await fetchFile(client, inspected, given.out, interruption);
  const tree = callTreeOf(await readFile(file, 'utf8'));
  const flame = given.flame ? await writeFlame(tree, `${file}.html`, process) : null;
  const functions = hottest(tree, HOTTEST_MAX);
  const idleMs = tree.calls.find(({ name }) => isIdle(name))?.totalMs ?? 0;
  const busyMs = Math.max(0, tree.totalMs - idleMs);
  const { id, record } = found.status;
  const where = { name: record.name, id, ...found.place };
  const files = flame === null ? file : `${file} and ${flame}`;
  const busy = `${process} worked for ${busyMs.toFixed(0)} of ${tree.totalMs.toFixed(0)} ms`;
  const rows = functions.map((hot) => [
    `${((hot.selfMs / Math.max(busyMs, 1)) * 100).toFixed(1)} %`,
    hot.selfMs.toFixed(1),
    hot.name,
    hot.place,
  ]);
  const table = textTable(['SHARE', 'MS', 'FUNCTION', 'PLACE'], rows, output);
  const { bytes } = inspected;
  return {
    json: { ...where, process, seconds, file, bytes, flame, busyMs, idleMs, hottest: functions },
    text: `${busy}\n${rows.length === 0 ? '' : `${table}\n`}written to ${files}`,
  };
}

async function writeFlame(tree: Call, file: string, title: string): Promise<string> {
  try {
    await writeFile(file, flameGraph(tree, title), { mode: 0o600 });
    return file;
  } catch (cause) {
    throw environmentError('FILE_FAILED', `cannot write ${file}: ${messageOf(cause)}`, { cause });
  }
}
