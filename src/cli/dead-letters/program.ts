import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { parseIsoTime } from '../../base/iso-time.ts';
import { DEAD_LETTER_KINDS } from '../../model/dead-letter.ts';
import { common, type Perform, PLACE, timeoutOption, TOPOLOGY } from '../command-options.ts';

/* `heron dead-letters …`, as it can be written. */

const IDS = 'which ones; else all, or all that the options leave';
const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 1_000_000;

export function addDeadLetters(program: Command, perform: Perform): void {
  const letters = program
    .command('dead-letters')
    .description('look at the messages that spouts have given up, replay or remove them')
    .helpCommand(false);
  addList(letters, perform);
  addShow(letters, perform);
  addReplay(letters, perform);
  addPurge(letters, perform);
}

function addList(letters: Command, perform: Perform): void {
  filtered(letters.command('list'))
    .description('show the newest dead letters of a topology, also of one that has completed')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .addOption(
      new Option('--before <moment>', 'only those given up before; as a list shows it').argParser(
        parseMoment,
      ),
    )
    .addOption(
      new Option('--limit <number>', 'how many at most')
        .argParser(parseLimit)
        .default(LIMIT_DEFAULT),
    )
    .action((place, name, { component, reason, before: beforeMs, limit, ...options }) =>
      perform(options, async (context) => {
        const { listLetters } = await import('../commands/dead-letters.ts');
        return listLetters({ place, name, component, reason, beforeMs, limit }, context);
      }),
    );
}

function addShow(letters: Command, perform: Perform): void {
  common(letters.command('show'))
    .description('show dead letters whole: values, error and stack')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .argument('<ids...>', 'as a list shows them')
    .action((place, name, ids, options) =>
      perform(options, async (context) => {
        const { showLetters } = await import('../commands/dead-letters.ts');
        return showLetters({ place, name, ids }, context);
      }),
    );
}

function addReplay(letters: Command, perform: Perform): void {
  filtered(letters.command('replay'))
    .description('let the spouts emit dead letters again')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .argument('[ids...]', IDS)
    .option('--wait', 'return when the tasks emit them; so it is unless told otherwise', true)
    .option('--no-wait', 'return at once; a task that is away does it when it is back')
    .addOption(timeoutOption('how long the tasks may take to take it up'))
    .action((place, name, ids, { component, reason, wait, timeout, ...options }) =>
      perform(options, async (context) => {
        const { replayLetters } = await import('../commands/dead-letters.ts');
        const given = { place, name, ids, component, reason, timeoutSeconds: timeout };
        return replayLetters({ ...given, wait }, context);
      }),
    );
}

function addPurge(letters: Command, perform: Perform): void {
  filtered(letters.command('purge'))
    .description('remove dead letters for good; asks first')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .argument('[ids...]', IDS)
    .option('--yes', 'do not ask', false)
    .addOption(timeoutOption('how long the tasks may take to take it up'))
    .action((place, name, ids, { component, reason, yes, timeout, ...options }) =>
      perform(options, async (context) => {
        const { purgeLetters } = await import('../commands/dead-letters.ts');
        const given = { place, name, ids, component, reason, timeoutSeconds: timeout };
        return purgeLetters({ ...given, yes }, context);
      }),
    );
}

function filtered(command: Command) {
  return common(command)
    .option('--component <name>', 'only those of this spout')
    .addOption(
      new Option('--reason <kind>', 'only those that failed so last').choices(DEAD_LETTER_KINDS),
    );
}

function parseMoment(text: string): number {
  const wallMs = parseIsoTime(text);
  if (wallMs !== undefined) return wallMs;
  throw new InvalidArgumentError('A moment such as 2026-01-31T23:59:59.999Z is expected.');
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new InvalidArgumentError(`A whole number from 1 to ${LIMIT_MAX} is expected.`);
}
