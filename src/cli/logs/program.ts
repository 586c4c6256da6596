import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { messageOf } from '../../base/errors.ts';
import { LOG_LEVELS } from '../../base/log-file.ts';
import { quotable } from '../../model/quotable.ts';
import { AdvisedError } from '../advised-error.ts';
import { common, type Perform, PLACE, TOPOLOGY } from '../command-options.ts';
import { type Moment, parseMoment } from './moment.ts';

/* `heron logs`, as it can be written. */

/** Lines are kept until the last of them are known. */
const TAIL_MAX = 100_000;
/** What means something in a regular expression. */
const SPECIAL = /[\\^$.*+?()[\]{}|/]/g;
const MOMENT = 'a moment, or how long ago: 10m';

export function addLogs(program: Command, perform: Perform): void {
  common(program.command('logs'))
    .description('print the log lines of all containers in the order of time')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .option('-f, --follow', 'go on with the lines that come, until the topology is gone')
    .addOption(names('--component <name>', 'only instances of this component'))
    .addOption(
      new Option('--container <number>', 'only this container; may be repeated')
        .argParser(addContainer)
        .default([] as readonly number[], 'all'),
    )
    .addOption(names('--process <name>', 'only this process, stmgr-1 for example'))
    .addOption(
      new Option('--level <level>', 'only lines of this level or above').choices(LOG_LEVELS),
    )
    .option('--grep <pattern>', 'only lines in which this regular expression is found')
    .option('-i, --ignore-case', 'for --grep, capital letters are as good as small ones')
    .option('-F, --fixed-strings', 'what --grep looks for is plain text')
    .addOption(new Option('--since <moment>', `only lines from then on; ${MOMENT}`).argParser(when))
    .addOption(new Option('--until <moment>', `only lines before; ${MOMENT}`).argParser(when))
    .addOption(new Option('--tail <number>', 'only the last so many lines').argParser(parseTail))
    .action((place, name, options) =>
      perform(options, async (context) => {
        const { logs } = await import('../commands/logs.ts');
        const { follow = false, level, since, until, tail } = options;
        const { component: components, container: containers, process: processes } = options;
        const text = options.grep === undefined ? undefined : expressionOf(options.grep, options);
        const filters = { components, containers, processes, level, text, since, until };
        return logs({ place, name, follow, tail, ...filters }, context);
      }),
    );
}

/** Several by repeating the option, or joined by commas. */
function names<const Flags extends string>(flags: Flags, doc: string) {
  return new Option(flags, `${doc}; may be repeated`)
    .argParser(addNames)
    .default([] as readonly string[], 'all');
}

function addNames(text: string, earlier: readonly string[]): readonly string[] {
  const given = text.split(',').filter((name) => name !== '');
  if (given.length > 0) return [...earlier, ...given];
  throw new InvalidArgumentError('A name is expected.');
}

function addContainer(text: string, earlier: readonly number[]): readonly number[] {
  const given = text.split(',');
  if (given.every((number) => /^\d{1,9}$/.test(number))) return [...earlier, ...given.map(Number)];
  throw new InvalidArgumentError('The number of a container is expected.');
}

function expressionOf(
  pattern: string,
  { ignoreCase, fixedStrings }: { readonly ignoreCase?: true; readonly fixedStrings?: true },
): RegExp {
  const source = fixedStrings === true ? pattern.replaceAll(SPECIAL, '\\$&') : pattern;
  try {
    return new RegExp(source, ignoreCase === true ? 'i' : '');
  } catch (cause) {
    const text = `--grep '${quotable(pattern)}' is no regular expression: ${messageOf(cause)}`;
    throw new AdvisedError('INVALID_ARGUMENT', text, {
      domain: 'user',
      next: 'with -F it is taken as plain text',
    });
  }
}

function when(text: string): Moment {
  const moment = parseMoment(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError(
    'A moment such as 2026-01-31T23:59:59Z, or 90s, 10m, 2h or 1d for so long ago, is expected.',
  );
}

function parseTail(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= TAIL_MAX) return count;
  throw new InvalidArgumentError(`A whole number from 0 to ${TAIL_MAX} is expected.`);
}
