import { openCluster } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import type { Check } from '../doctor/check.ts';
import {
  examineDataRoot,
  examinePlatform,
  examinePorts,
  examineSchedulers,
  examineSettings,
  examineState,
} from '../doctor/examine.ts';
import { CLI_EXIT } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import { parsePlace } from '../place.ts';

/** Finds out whether topologies can run here, and what to do when they cannot. */
export async function doctor(
  given: { readonly place: string },
  context: CommandContext,
): Promise<CommandResult> {
  await using cluster = await openCluster(parsePlace(given.place).cluster, context);
  const settings = await examineSettings(cluster.name, context);
  const checks = [
    examinePlatform(),
    settings.check,
    ...(await examineDataRoot(context)),
    await examineState(cluster),
    await examinePorts(settings.layers, context),
    await examineSchedulers(cluster, context),
  ];
  const healthy = checks.every(({ verdict }) => verdict !== 'fail');
  return {
    json: { healthy, checks },
    text: checks.flatMap((check) => linesOf(check, context.output)).join('\n'),
    exitCode: healthy ? CLI_EXIT.ok : CLI_EXIT.failure,
  };
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

function linesOf({ name, verdict, message, next }: Check, output: Output): readonly string[] {
  const first = `${output.style(COLOURS[verdict], verdict.padEnd(4))}  ${name}: ${message}`;
  return next === null ? [first] : [first, `      Next: ${next}`];
}
