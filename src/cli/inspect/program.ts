import { Argument, type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { LOG_LEVELS } from '../../base/logger.ts';
import { PROFILE_SECONDS_MAX } from '../../inspection/requests.ts';
import { SAMPLE_COUNT_MAX, SAMPLE_SECONDS_MAX } from '../../model/sample.ts';
import { common, type Perform, PLACE, TOPOLOGY } from '../command-options.ts';

/* The commands that look into running processes, as they can be written. */

const PROCESS = 'a process by its name, as status shows it';
const SECONDS_DEFAULT = 10;
const COUNT_DEFAULT = 10;

export function addInspecting(program: Command, perform: Perform): void {
  addProfile(program, perform);
  addHeap(program, perform);
  addStack(program, perform);
  addSample(program, perform);
  addLogLevel(program, perform);
}

function addProfile(program: Command, perform: Perform): void {
  common(program.command('profile'))
    .description('show where a process spends its time, and write a CPU profile')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .argument('<process>', PROCESS)
    .addOption(secondsOption('how long to look', PROFILE_SECONDS_MAX))
    .option('--out <file>', 'where to; else a name of its own in this folder')
    .option('--flame', 'also write a flame graph, as a page beside it', false)
    .action((place, name, process, { seconds, out, flame, ...options }) =>
      perform(options, async (context) => {
        const { profile } = await import('../commands/profile.ts');
        return profile({ place, name, process, seconds, out, flame }, context);
      }),
    );
}

function addHeap(program: Command, perform: Perform): void {
  common(program.command('heap'))
    .description("write a snapshot of a process's heap; it stands still meanwhile")
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .argument('<process>', PROCESS)
    .option('--out <file>', 'where to; else a name of its own in this folder')
    .option('--figures', 'only print how large it is', false)
    .action((place, name, process, { out, figures, ...options }) =>
      perform(options, async (context) => {
        const { heap } = await import('../commands/heap.ts');
        return heap({ place, name, process, out, figures }, context);
      }),
    );
}

function addStack(program: Command, perform: Perform): void {
  common(program.command('stack'))
    .description('show where the main thread of a process is')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .argument('<process>', PROCESS)
    .action((place, name, process, options) =>
      perform(options, async (context) => {
        const { stack } = await import('../commands/stack.ts');
        return stack({ place, name, process }, context);
      }),
    );
}

function addSample(program: Command, perform: Perform): void {
  common(program.command('sample'))
    .description('show the next tuples that an instance emits')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .argument('<process>', 'an instance by its name, as status shows it')
    .option('--stream <name>', 'only those of this stream')
    .addOption(
      new Option('--count <number>', 'how many')
        .argParser((text) => parseNumber(text, SAMPLE_COUNT_MAX))
        .default(COUNT_DEFAULT),
    )
    .addOption(secondsOption('how long to wait for them', SAMPLE_SECONDS_MAX))
    .action((place, name, process, { stream, count, seconds, ...options }) =>
      perform(options, async (context) => {
        const { sample } = await import('../commands/sample.ts');
        return sample({ place, name, process, stream, count, seconds }, context);
      }),
    );
}

function addLogLevel(program: Command, perform: Perform): void {
  common(program.command('log-level'))
    .description('choose which lines a running topology writes to its logs')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .addArgument(new Argument('<level>', 'lines of it and above').choices(LOG_LEVELS))
    .argument('[component]', 'only its instances; else all but those with a level of their own')
    .action((place, name, level, component, options) =>
      perform(options, async (context) => {
        const { logLevel } = await import('../commands/log-level.ts');
        return logLevel({ place, name, level, component }, context);
      }),
    );
}

function secondsOption(doc: string, max: number) {
  return new Option('--seconds <number>', doc)
    .argParser((text) => parseNumber(text, max))
    .default(SECONDS_DEFAULT);
}

function parseNumber(text: string, max: number): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1 && number <= max) return number;
  throw new InvalidArgumentError(`A whole number from 1 to ${max} is expected.`);
}
