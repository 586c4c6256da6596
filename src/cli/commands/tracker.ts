import { once } from 'node:events';
import { addressText } from '../../net/network.ts';
import { createTracker } from '../../tracker/tracker.ts';
import { type ActingChoice, openActions } from '../actions/open-actions.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { openTrackedClusters, type TrackedChoice } from '../tracker/tracked-clusters.ts';

export interface TrackerArguments {
  readonly host: string;
  readonly port: number;
  /** Names that requests may call it by, in lower case. */
  readonly hostNames: readonly string[];
  readonly choice: TrackedChoice;
  readonly acting: ActingChoice;
}

/** Serves until it is interrupted. With --json it prints where it listens when it does. */
export async function tracker(
  { host, port, hostNames, choice, acting }: TrackerArguments,
  context: CommandContext,
): Promise<CommandResult> {
  const { clock, logger, output, interruption } = context;
  await using tracked = await openTrackedClusters(choice, context);
  const { clusters, links } = tracked;
  using acts = await openActions(acting, context);
  const { actions, files } = acts;
  const serving = createTracker({ clusters, links, clock, logger, hostNames, actions });
  try {
    const address = await serving.listen({ host, port });
    const url = `http://${addressText(address)}`;
    const names = clusters.map(({ name }) => name);
    if (output.isJson) output.json({ url, ...address, clusters: names, ...files });
    else output.say(`${url} serves ${names.join(', ')}; Ctrl-C ends it`);
    if (files !== undefined) {
      output.say(`actions are allowed to whoever has a token of ${files.tokenFile}`);
      output.say(`what they do is written to ${files.auditLog}`);
    }
    for (const { name, problem } of clusters) {
      if (problem !== undefined) output.warn(`warning: ${name} cannot be opened: ${problem}`);
    }
    if (!interruption.aborted) await once(interruption, 'abort');
  } finally {
    await serving.close();
  }
  return { json: undefined, text: '' };
}
