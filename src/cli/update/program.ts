import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import {
  common,
  dryRunFormatOption,
  type Perform,
  PLACE,
  timeoutOption,
  TOPOLOGY,
} from '../command-options.ts';

/* `heron update`, as it can be written. */

/** Long enough for tasks that retire to use the time that they have for it, which is 60 s. */
const TIMEOUT_SECONDS = 180;

export function addUpdate(program: Command, perform: Perform): void {
  common(program.command('update'))
    .description('change a topology while it runs')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .addOption(
      new Option(
        '--component-parallelism <component:number>',
        'how many tasks it is to have; may be repeated',
      )
        .argParser(addParallelism)
        .default(new Map<string, number>() as ReadonlyMap<string, number>, 'as they are'),
    )
    .addOption(
      new Option(
        '--container-number <number>',
        'how many worker containers there are to be',
      ).argParser(parseNumber),
    )
    .addOption(
      new Option('--runtime-config <[component:]key:value>', 'set a setting; may be repeated')
        .argParser((text: string, earlier: readonly string[]): readonly string[] => [
          ...earlier,
          text,
        ])
        .default([] as readonly string[], 'none'),
    )
    .option('--dry-run', 'only say what would change', false)
    .addOption(dryRunFormatOption())
    .option('--force', 'also when a number changes by more than heron.update.factor.max', false)
    .option('--wait', 'return when it is in force; so it is unless told otherwise', true)
    .option('--no-wait', 'return when it is stored')
    .addOption(timeoutOption('how long it may take', TIMEOUT_SECONDS))
    .action((place, name, options) =>
      perform(options, async (context) => {
        const { update } = await import('../commands/update.ts');
        const { componentParallelism, containerNumber, runtimeConfig, dryRunFormat } = options;
        const { force, wait, timeout: timeoutSeconds } = options;
        const dryRun = options.dryRun ? dryRunFormat : undefined;
        const numbers = { componentParallelism, containerNumber };
        const how = { dryRun, force, wait, timeoutSeconds };
        return update({ place, name, ...numbers, runtimeConfig, ...how }, context);
      }),
    );
}

/** Whether such a component is there, and such a number possible, is for the topology to say. */
function addParallelism(
  text: string,
  earlier: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const [, component = '', number = ''] = /^(.+):(-?\d{1,9})$/.exec(text) ?? [];
  if (component === '') throw new InvalidArgumentError('It is written component:number.');
  if (earlier.has(component)) throw new InvalidArgumentError(`'${component}' is there twice.`);
  return new Map([...earlier, [component, Number(number)]]);
}

function parseNumber(text: string): number {
  if (/^-?\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('A whole number is expected.');
}
