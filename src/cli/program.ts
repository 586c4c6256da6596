import { Argument, Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { userError } from '../base/errors.ts';
import { didYouMean } from '../model/nearest.ts';
import {
  common,
  dryRunFormatOption,
  type Perform,
  PLACE,
  timeoutOption,
  TOPOLOGY,
} from './command-options.ts';
import { SHELLS } from './completion/scripts.ts';
import { wantedAt } from './completion/wanted.ts';
import { addDeadLetters } from './dead-letters/program.ts';
import { addExplore } from './explore/program.ts';
import { addLogs } from './logs/program.ts';
import { addInspecting } from './inspect/program.ts';
import { addTop } from './top/program.ts';
import { addTracker } from './tracker/program.ts';
import { addUpdate } from './update/program.ts';

/*
  What can be written on the command line. Each command's code is loaded when it is called: a
  command should not pay for the others at every start.
*/

export function createProgram(perform: Perform): Command {
  const program = new Command('heron')
    .description('Runs topologies of spouts and bolts on a scheduler that you already have.')
    .helpCommand(false)
    .showHelpAfterError("('heron help' lists the commands)");
  addProject(program, perform);
  addStarting(program, perform);
  addDev(program, perform);
  addEnding(program, perform);
  addChanging(program, perform);
  addUpdate(program, perform);
  addRestart(program, perform);
  addLooking(program, perform);
  addTracker(program, perform);
  addExplore(program, perform);
  addInspecting(program, perform);
  addDeadLetters(program, perform);
  addCompletion(program, perform);
  addHelp(program, perform);
  return program;
}

function addProject(program: Command, perform: Perform): void {
  common(program.command('new'))
    .description('make a project: a topology, its test and what they need')
    .argument('<folder>', 'where; it is made when it is not there')
    .action((folder, options) =>
      perform(options, async (context) => {
        const { newProject } = await import('./commands/new.ts');
        return newProject({ folder }, context);
      }),
    );
}

function addStarting(program: Command, perform: Perform): void {
  withConfig(common(program.command('submit')))
    .description('start a topology and return when it runs')
    .option('--wait', 'return when it runs; so it is unless told otherwise', true)
    .option('--no-wait', 'return when it is launched, whether it will run or not')
    .option('--deploy-deactivated', 'let its spouts rest until heron activate', false)
    .option('--dry-run', 'only say what would run where', false)
    .addOption(dryRunFormatOption())
    .action((place, file, name, args, options) =>
      perform(options, async (context) => {
        const { submit } = await import('./commands/submit.ts');
        const { wait, timeout: timeoutSeconds, configProperty: config, replace } = options;
        const { deployDeactivated: deactivated, dryRunFormat } = options;
        const dryRun = options.dryRun ? dryRunFormat : undefined;
        const source = { place, file, name, args, config, timeoutSeconds };
        return submit({ ...source, wait, replace, deactivated, dryRun }, context);
      }),
    );
  withConfig(common(program.command('run')))
    .description('start a topology and stay until it ends; Ctrl-C kills it')
    .action((place, file, name, args, options) =>
      perform(options, async (context) => {
        const { run } = await import('./commands/run.ts');
        const { timeout: timeoutSeconds, configProperty: config, replace } = options;
        return run({ place, file, name, args, config, replace, timeoutSeconds }, context);
      }),
    );
}

function addDev(program: Command, perform: Perform): void {
  withProperties(common(program.command('dev')))
    .description('run a topology here, start it anew at each change, and show what it does')
    .argument('<file>', 'the TypeScript module whose topology is to run')
    .argument('[args...]', "arguments of the module's build function")
    .addOption(
      new Option('--inspect <component[=port]>', 'let a debugger look into its tasks').argParser(
        parseInspect,
      ),
    )
    .addOption(timeoutOption('how long a start may take'))
    .action((file, args, options) =>
      perform(options, async (context) => {
        const { dev } = await import('./commands/dev.ts');
        const { inspect, configProperty: config, timeout: timeoutSeconds } = options;
        return dev({ file, args, config, inspect, timeoutSeconds }, context);
      }),
    );
}

function addEnding(program: Command, perform: Perform): void {
  common(program.command('kill'))
    .description('end a topology and leave nothing of it')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .option('--if-exists', 'succeed also when there is no such topology', false)
    .option('--drain', 'let it process what it has taken in first; its logs are kept', false)
    .addOption(timeoutOption('how long a drain may take'))
    .action((place, name, { ifExists, drain, timeout: timeoutSeconds, ...options }) =>
      perform(options, async (context) => {
        const { kill } = await import('./commands/kill.ts');
        return kill({ place, name, ifExists, drain, timeoutSeconds }, context);
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

function addRestart(program: Command, perform: Perform): void {
  common(program.command('restart'))
    .description('start containers, or one process, of a topology anew')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .argument('[what]', 'a container by its number or a process by its name; else all containers')
    .addOption(timeoutOption('how long until everything runs again'))
    .action((place, name, what, options) =>
      perform(options, async (context) => {
        const { restart } = await import('./commands/restart.ts');
        return restart({ place, name, what, timeoutSeconds: options.timeout }, context);
      }),
    );
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
  addTop(program, perform);
  addLogs(program, perform);
  common(program.command('doctor'))
    .description('find out whether topologies can run here, and what to do if not')
    .argument('[place]', PLACE, 'local')
    .action((place, options) =>
      perform(options, async (context) => {
        const { doctor } = await import('./commands/doctor.ts');
        return doctor({ place }, context);
      }),
    );
  addConfig(program, perform);
  common(program.command('version'))
    .description('show the version of the engine')
    .action((options) =>
      perform(options, async () => {
        const { version } = await import('./commands/version.ts');
        return version();
      }),
    );
}

function addCompletion(program: Command, perform: Perform): void {
  common(program.command('completion'))
    .description('print what makes a shell complete the words of heron')
    .addArgument(new Argument('<shell>', 'the shell that you use').choices(SHELLS))
    .action((shell, options) =>
      perform(options, async () => {
        const { completion } = await import('./commands/completion.ts');
        return completion(shell);
      }),
    );
  common(program.command('complete', { hidden: true }))
    .description('print what fits at the end of these words')
    .argument('[words...]', 'the words after heron; the last one is being written')
    .action((words, options) =>
      perform(options, async (context) => {
        const { complete } = await import('./commands/complete.ts');
        return complete(wantedAt(program, words), words.at(-1) ?? '', context);
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

function addConfig(program: Command, perform: Perform): void {
  const config = program
    .command('config')
    .description('look at the settings of a cluster')
    .helpCommand(false);
  withProperties(common(config.command('show')))
    .description('show each setting with where it comes from')
    .argument('[place]', PLACE, 'local')
    .option('--changed', 'only what differs from the defaults', false)
    .action((place, options) =>
      perform(options, async (context) => {
        const { configShow } = await import('./commands/config.ts');
        const { changed, configProperty } = options;
        return configShow({ place, config: configProperty, changed }, context);
      }),
    );
}

function withProperties(command: ReturnType<typeof common>) {
  return command.addOption(
    new Option('--config-property <key=value>', 'set a setting of the topology; may be repeated')
      .argParser(addProperty)
      .default(new Map<string, string>() as ReadonlyMap<string, string>, 'none'),
  );
}

function withConfig(command: ReturnType<typeof common>) {
  return withProperties(command)
    .argument('<place>', PLACE)
    .argument('<file>', 'the TypeScript module whose topology is to run')
    .argument('<topology>', `${TOPOLOGY}, which wins over the one in the module`)
    .argument(
      '[args...]',
      "arguments of the module's build function; after -- they may begin with -",
    )
    .option('--replace', 'kill a topology of this name at the same place first', false)
    .addOption(timeoutOption('how long the start may take'));
}

function addProperty(
  text: string,
  earlier: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('It is written key=value.');
  return new Map([...earlier, [text.slice(0, at), text.slice(at + 1)]]);
}

/** Node's own port unless given. */
function parseInspect(text: string): string {
  const [, component = '', port = '9229'] = /^([^=]+)(?:=(\d{1,5}))?$/.exec(text) ?? [];
  if (component !== '' && Number(port) > 0 && Number(port) < 65_536) return `${component}=${port}`;
  throw new InvalidArgumentError('It is written component or component=port.');
}
