/* What several commands have in common: their words, and how these are read. */

import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { CommandContext, CommandResult } from './command-context.ts';
import { DRY_RUN_FORMATS, type DryRunFormat } from './dry-run-format.ts';

export const PLACE = 'cluster/role/env; role and env may be left out';
export const TOPOLOGY = "the topology's name";
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

/** The options of every command. */
export function common(command: Command) {
  return command
    .option('--json', 'print one JSON value on standard output')
    .option('--verbose', 'say more on standard error, and where an error comes from');
}

export function timeoutOption(doc: string, seconds: number = TIMEOUT_SECONDS_DEFAULT) {
  return new Option('--timeout <seconds>', doc).argParser(parseSeconds).default(seconds);
}

export function dryRunFormatOption() {
  return new Option('--dry-run-format <format>', 'how; means --dry-run')
    .choices(DRY_RUN_FORMATS)
    .argParser(parseDryRunFormat)
    .default('table')
    .implies({ dryRun: true });
}

/** Heron writes `colored_table`. */
function parseDryRunFormat(text: string): DryRunFormat {
  const format = DRY_RUN_FORMATS.find((known) => known === text.replaceAll('_', '-'));
  if (format !== undefined) return format;
  throw new InvalidArgumentError(`Allowed choices are ${DRY_RUN_FORMATS.join(', ')}.`);
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  const isValid = /^\d+$/.test(text) && seconds >= 1 && seconds <= TIMEOUT_SECONDS_MAX;
  if (isValid) return seconds;
  throw new InvalidArgumentError(`A whole number from 1 to ${TIMEOUT_SECONDS_MAX} is expected.`);
}
