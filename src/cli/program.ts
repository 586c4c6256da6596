import { Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { userError } from '../base/errors.ts';
import { didYouMean } from '../model/nearest.ts';
import type { CommandContext, CommandResult } from './command-context.ts';

/*
  What can be written on the command line. Each command's code is loaded when it is called: a
  command should not pay for the others at every start.
*/

const PLACE = 'cluster/role/env; role and env may be left out';
const TOPOLOGY = "the topology's name";
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const TIMEOUT_SECONDS_DEFAULT = 60;
const TIMEOUT_SECONDS_MAX = 86_400;

export interface CommonOptions {
  readonly json?: true | undefined;
  readonly verbose?: true | undefined;
}

/** Runs a command's code in a context made of its options, and shows its result. */
export type Perform = (
  options: CommonOptions,
  work: (context: CommandContext) => Promise<CommandResult>,
) => Promise<void>;

export function createProgram(perform: Perform): Command {
  const program = new Command('heron')
    .description('Runs topologies of spouts and bolts on a scheduler that you already have.')
    .helpCommand(false)
    .showHelpAfterError("('heron help' lists the commands)");
  addStarting(program, perform);
  addEnding(program, perform);
  addChanging(program, perform);
  addLooking(program, perform);
  addHelp(program, perform);
  return program;
}

function addStarting(program: Command, perform: Perform): void {
  withConfig(common(program.command('submit')))
    .description('start a topology and return when it runs')
    .option('--no-wait', 'return when it is launched, whether it will run or not')
    .action((place, file, name, args, options) =>
      perform(options, async (context) => {
        const { submit } = await import('./commands/submit.ts');
        const { wait, timeout: timeoutSeconds, configProperty: config } = options;
        return submit({ place, file, name, args, config, wait, timeoutSeconds }, context);
      }),
    );
  withConfig(common(program.command('run')))
    .description('start a topology and stay until it ends; Ctrl-C kills it')
    .action((place, file, name, args, options) =>
      perform(options, async (context) => {
        const { run } = await import('./commands/run.ts');
        const { timeout: timeoutSeconds, configProperty: config } = options;
        return run({ place, file, name, args, config, timeoutSeconds }, context);
      }),
    );
}

function addEnding(program: Command, perform: Perform): void {
  common(program.command('kill'))
    .description('end a topology and leave nothing of it')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .action((place, name, options) =>
      perform(options, async (context) => {
        const { kill } = await import('./commands/kill.ts');
        return kill({ place, name }, context);
      }),
    );
}

function addChanging(program: Command, perform: Perform): void {
  const descriptions = {
    activate: 'let the spouts of a topology emit again',
    deactivate: 'let the spouts of a topology rest',
  };
  for (const command of ['activate', 'deactivate'] as const) {
    common(program.command(command))
      .description(descriptions[command])
      .argument('<place>', PLACE)
      .argument('<topology>', TOPOLOGY)
      .action((place, name, options) =>
        perform(options, async (context) => {
          const { setState } = await import('./commands/set-state.ts');
          return setState(command, { place, name }, context);
        }),
      );
  }
}

function addLooking(program: Command, perform: Perform): void {
  common(program.command('list'))
    .description('show the topologies of a place')
    .argument('<place>', PLACE)
    .action((place, options) =>
      perform(options, async (context) => {
        const { list } = await import('./commands/list.ts');
        return list({ place }, context);
      }),
    );
  common(program.command('status'))
    .description("show a topology's containers and processes, and why they last ended")
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .action((place, name, options) =>
      perform(options, async (context) => {
        const { status } = await import('./commands/status.ts');
        return status({ place, name }, context);
      }),
    );
  addLogs(program, perform);
  common(program.command('version'))
    .description('show the version of the engine')
    .action((options) =>
      perform(options, async () => {
        const { version } = await import('./commands/version.ts');
        return version();
      }),
    );
}

/** Commander's own knows no --json. */
function addHelp(program: Command, perform: Perform): void {
  common(program.command('help'))
    .description('show how a command is written')
    .argument('[command]', 'all of them unless given')
    .action((name, options) =>
      perform(options, async () => {
        const known = program.commands.map((command) => command.name());
        const command = name === undefined ? program : program.commands[known.indexOf(name)];
        if (command === undefined) {
          const text = `there is no command '${name}'${didYouMean(name ?? '', known)}`;
          throw userError('INVALID_ARGUMENT', text);
        }
        const help = command.helpInformation().trimEnd();
        return { json: { help }, text: help };
      }),
    );
}

function addLogs(program: Command, perform: Perform): void {
  common(program.command('logs'))
    .description('print the log lines of all containers in the order of time')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .option('-f, --follow', 'go on with the lines that come, until the topology is gone')
    .option('--component <name>', 'only instances of this component')
    .addOption(new Option('--container <number>', 'only this container').argParser(parseContainer))
    .addOption(new Option('--level <level>', 'only lines of this level or above').choices(LEVELS))
    .action((place, name, options) =>
      perform(options, async (context) => {
        const { logs } = await import('./commands/logs.ts');
        const { follow = false, component, container, level } = options;
        return logs({ place, name, follow, component, container, level }, context);
      }),
    );
}

function common(command: Command) {
  return command
    .option('--json', 'print one JSON value on standard output')
    .option('--verbose', 'say more on standard error, and where an error comes from');
}

function withConfig(command: ReturnType<typeof common>) {
  return command
    .argument('<place>', PLACE)
    .argument('<file>', 'the TypeScript module whose topology is to run')
    .argument('<topology>', `${TOPOLOGY}, which wins over the one in the module`)
    .argument(
      '[args...]',
      "arguments of the module's build function; after -- they may begin with -",
    )
    .addOption(
      new Option('--config-property <key=value>', 'set a setting of the topology; may be repeated')
        .argParser(addProperty)
        .default(new Map<string, string>() as ReadonlyMap<string, string>, 'none'),
    )
    .addOption(
      new Option('--timeout <seconds>', 'how long the start may take')
        .argParser(parseSeconds)
        .default(TIMEOUT_SECONDS_DEFAULT),
    );
}

function addProperty(
  text: string,
  earlier: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('It is written key=value.');
  return new Map([...earlier, [text.slice(0, at), text.slice(at + 1)]]);
}

function parseContainer(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('The number of a container is expected.');
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  const isValid = /^\d+$/.test(text) && seconds >= 1 && seconds <= TIMEOUT_SECONDS_MAX;
  if (isValid) return seconds;
  throw new InvalidArgumentError(`A whole number from 1 to ${TIMEOUT_SECONDS_MAX} is expected.`);
}
