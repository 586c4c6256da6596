import { Writable } from 'node:stream';
import type {
  ActionOutcome,
  ActionPlace,
  TopologyAction,
  TopologyQuestion,
  TrackerActions,
} from '../../tracker/actions/tracker-actions.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { errorReportOf } from '../error-report.ts';
import type { TopologyArguments } from '../find-topology.ts';
import { Output } from '../output.ts';

/**
 * A Tracker's actions are commands of this program, run in the Tracker's process: what they would
 * print with --json is the outcome, and what they warn of goes with it. Nobody is asked anything.
 */
export function commandActions(context: CommandContext): TrackerActions {
  return {
    perform: async (place, wish): Promise<ActionOutcome> => {
      const warnings: string[] = [];
      const quiet = { ...context, output: quietOutput(warnings), ask: undefined };
      try {
        const { json = {} } = await run(argumentsOf(place), wish, quiet);
        return { isDone: true, result: json, warnings };
      } catch (error) {
        return { isDone: false, error: errorReportOf(error) };
      }
    },
  };
}

function argumentsOf({ cluster, role, environ, topology }: ActionPlace): TopologyArguments {
  return { place: `${cluster}/${role}/${environ}`, name: topology };
}

async function run(
  topology: TopologyArguments,
  wish: TopologyAction | TopologyQuestion,
  context: CommandContext,
): Promise<CommandResult> {
  switch (wish.kind) {
    case 'activate':
    case 'deactivate': {
      const { setState } = await import('../commands/set-state.ts');
      return setState(wish.kind, topology, context);
    }
    case 'restart': {
      const { restart } = await import('../commands/restart.ts');
      return restart({ ...topology, ...wish }, context);
    }
    case 'update': {
      const { update } = await import('../commands/update.ts');
      return update({ ...topology, ...wish, dryRun: wish.isDryRun ? 'json' : undefined }, context);
    }
    case 'kill': {
      const { kill } = await import('../commands/kill.ts');
      return kill({ ...topology, ...wish, ifExists: false }, context);
    }
    case 'list-dead-letters':
    case 'show-dead-letters':
    case 'replay-dead-letters':
    case 'purge-dead-letters':
      return await runLetters(topology, wish, context);
  }
}

type LettersWish = Extract<
  TopologyAction | TopologyQuestion,
  { readonly kind: `${string}-dead-letters` }
>;

async function runLetters(
  topology: TopologyArguments,
  wish: LettersWish,
  context: CommandContext,
): Promise<CommandResult> {
  const letters = await import('../commands/dead-letters.ts');
  switch (wish.kind) {
    case 'replay-dead-letters':
      return letters.replayLetters({ ...topology, ...wish, wait: true }, context);
    case 'purge-dead-letters':
      return letters.purgeLetters({ ...topology, ...wish, yes: true }, context);
    case 'list-dead-letters':
      return letters.listLetters({ ...topology, ...wish }, context);
    case 'show-dead-letters':
      return letters.showLetters({ ...topology, ...wish }, context);
  }
}

/** What commands say on the way is for people at a terminal; warnings are for everybody. */
function quietOutput(warnings: string[]): Output {
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => {
      done();
    },
  });
  const stderr = new Writable({
    decodeStrings: false,
    write: (chunk: string, _encoding, done) => {
      warnings.push(chunk.trimEnd());
      done();
    },
  });
  return new Output({ stdout, stderr, isJson: true });
}
