import { homedir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { systemClock } from '../base/clock.ts';
import { stackOf, userError } from '../base/errors.ts';
import { silentLogger } from '../base/logger.ts';
import { openConsoleLogger } from '../base/log-file.ts';
import { createSystemRandom } from '../base/random.ts';
import type { CommandContext, CommandResult } from './command-context.ts';
import type { CommonOptions } from './command-options.ts';
import { errorReportOf } from './error-report.ts';
import { CLI_EXIT, type CliExitCode, cliExitCodeOf } from './exit-codes.ts';
import { Output, type OutputStream } from './output.ts';
import { createProgram } from './program.ts';

/** What the command line gets from the process around it. */
export interface CommandLineOptions {
  readonly args: readonly string[];
  readonly stdout: OutputStream;
  readonly stderr: Writable;
  readonly environment: NodeJS.ProcessEnv;
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly interruption: AbortSignal;
  /** Asks a person; absent where there is none. */
  readonly ask?: CommandContext['ask'];
  /** A person's screen and keyboard; absent where one of them is something else. */
  readonly terminal?: CommandContext['terminal'];
  /** Called after each step that a crash could follow. */
  readonly afterStep?: (step: string) => void;
}

/** Runs one command; resolves with the exit code, when everything has been said. */
export async function runCommandLine(options: CommandLineOptions): Promise<CliExitCode> {
  const { args, stdout, stderr } = options;
  // Also for mistakes that are found before the options are known.
  const isJson = beforeDashes(args).includes('--json');
  const isVerbose = beforeDashes(args).includes('--verbose');
  const output = new Output({ stdout, stderr, isJson });
  let exitCode: CliExitCode = CLI_EXIT.ok;
  const program = createProgram(async (common, work) => {
    const result = await work(contextOf(options, common, output));
    exitCode = result.exitCode ?? CLI_EXIT.ok;
    show(result, output);
  });
  for (const command of withSubcommands(program)) {
    command.exitOverride().configureOutput({
      writeOut: (text) => (isJson ? output.json({ help: text }) : output.write(text)),
      writeErr: (text) => (isJson ? undefined : stderr.write(text)),
    });
  }
  try {
    await program.parseAsync(withVersionCommand(args), { from: 'user' });
    return exitCode;
  } catch (error) {
    return fail(error, output, isVerbose);
  }
}

function withSubcommands(command: CommandUnknownOpts): readonly CommandUnknownOpts[] {
  return [command, ...command.commands.flatMap(withSubcommands)];
}

function show({ json, text }: CommandResult, output: Output): void {
  if (output.isJson) {
    if (json !== undefined) output.json(json);
  } else if (text !== '') output.say(text);
}

function fail(error: unknown, output: Output, isVerbose: boolean): CliExitCode {
  if (error instanceof CommanderError) return failUsage(error, output);
  const report = errorReportOf(error);
  if (output.isJson) output.json({ error: report });
  else {
    output.warn(`${output.warningStyle('red', 'error:')} ${report.message}`);
    for (const line of report.details ?? []) output.warn(`    ${line}`);
    output.warn(`Next: ${report.next}`);
  }
  if (isVerbose) output.warn(stackOf(error));
  return cliExitCodeOf(error);
}

/** Commander has already said it to people, or has shown help that was asked for. */
function failUsage({ exitCode, message }: CommanderError, output: Output): CliExitCode {
  if (exitCode === 0) return CLI_EXIT.ok;
  const text = message
    .replace(/^error: /, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (output.isJson) output.json({ error: errorReportOf(userError('INVALID_ARGUMENT', text)) });
  return CLI_EXIT.invocation;
}

function contextOf(
  { environment, interruption, ask, terminal, afterStep = () => {} }: CommandLineOptions,
  { verbose }: CommonOptions,
  output: Output,
): CommandContext {
  const clock = systemClock;
  return {
    clock,
    random: createSystemRandom(),
    logger: verbose === true ? openConsoleLogger({ level: 'debug', clock }) : silentLogger,
    output,
    dataRoot: resolve(environment['HERON_DATA'] || join(homedir(), '.herondata')),
    configRoot: resolve(environment['HERON_CONFIG'] || join(homedir(), '.heron')),
    variables: environment,
    currentUser: currentUser(environment),
    interruption,
    ask,
    terminal,
    afterStep,
  };
}

/** A container may run under a user id that has no name. */
function currentUser(environment: NodeJS.ProcessEnv): string {
  try {
    return userInfo().username;
  } catch {
    return environment['USER'] || `user-${process.getuid?.() ?? 0}`;
  }
}

/** `heron --version` is what people try first. */
function withVersionCommand([first, ...rest]: readonly string[]): string[] {
  if (first === undefined) return [];
  return [first === '--version' || first === '-V' ? 'version' : first, ...rest];
}

function beforeDashes(args: readonly string[]): readonly string[] {
  const at = args.indexOf('--');
  return at < 0 ? args : args.slice(0, at);
}
