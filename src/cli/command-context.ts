import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { Random } from '../base/random.ts';
import type { CliExitCode } from './exit-codes.ts';
import type { Output } from './output.ts';
import type { TerminalStreams } from './top/terminal.ts';

/** What every command gets from the process that it runs in. */
export interface CommandContext {
  readonly clock: Clock;
  readonly random: Random;
  /** For --verbose. */
  readonly logger: Logger;
  readonly output: Output;
  /** Holds everything of this machine. */
  readonly dataRoot: string;
  /** Holds a folder of settings for each cluster. */
  readonly configRoot: string;
  /** The environment, in which settings may be. */
  readonly variables: NodeJS.ProcessEnv;
  readonly currentUser: string;
  /** Aborted by Ctrl-C and by SIGTERM. */
  readonly interruption: AbortSignal;
  /** Asks a person a question, for which "no" is the answer in doubt; absent without a terminal. */
  readonly ask?: ((question: string) => Promise<boolean>) | undefined;
  /** The whole screen, for commands that draw on it; absent where there is none. */
  readonly terminal?: TerminalStreams | undefined;
  /** Called after each step that a crash could follow. */
  readonly afterStep: (step: string) => void;
}

/** What a command has to say at its end. */
export interface CommandResult {
  /** The one value that --json prints (docs/cli.md); undefined when all has been printed. */
  readonly json: object | undefined;
  /** For people; empty when everything has been said. */
  readonly text: string;
  readonly exitCode?: CliExitCode;
}
