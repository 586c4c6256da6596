import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { common, type Perform, PLACE, TOPOLOGY } from '../command-options.ts';

/* `heron top`, as it can be written. */

const INTERVAL_SECONDS_DEFAULT = 2;
/** What metrics change by in less is noise, and looking has its price. */
const INTERVAL_SECONDS_MIN = 0.1;
const INTERVAL_SECONDS_MAX = 3_600;
const ITERATIONS_MAX = 1_000_000;
const MS_PER_SECOND = 1_000;

export function addTop(program: Command, perform: Perform): void {
  common(program.command('top'))
    .description('watch topologies, or the tasks of one: what they do now')
    .argument('<place>', PLACE)
    .argument('[topology]', `${TOPOLOGY}; all of the place unless given`)
    .addOption(
      new Option('--interval <seconds>', 'how often it looks')
        .argParser(parseInterval)
        .default(INTERVAL_SECONDS_DEFAULT),
    )
    .addOption(
      new Option(
        '--iterations <number>',
        'how often it looks in all; 1 where there is no terminal, else until it is quit',
      ).argParser(parseIterations),
    )
    .action((place, name, { interval, iterations, ...options }) =>
      perform(options, async (context) => {
        const { top } = await import('../commands/top.ts');
        const intervalMs = interval * MS_PER_SECOND;
        return top({ place, name, intervalMs, iterations }, context);
      }),
    );
}

function parseInterval(text: string): number {
  const seconds = Number(text);
  const isNumber = /^\d+(?:\.\d+)?$/.test(text);
  if (isNumber && seconds >= INTERVAL_SECONDS_MIN && seconds <= INTERVAL_SECONDS_MAX) {
    return seconds;
  }
  const range = `from ${INTERVAL_SECONDS_MIN} to ${INTERVAL_SECONDS_MAX}`;
  throw new InvalidArgumentError(`A number of seconds ${range} is expected.`);
}

function parseIterations(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && count <= ITERATIONS_MAX) return count;
  throw new InvalidArgumentError(`A whole number from 1 to ${ITERATIONS_MAX} is expected.`);
}
