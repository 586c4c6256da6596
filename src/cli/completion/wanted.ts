import type { CommandUnknownOpts } from '@commander-js/extra-typings';

/*
  What fits where the cursor is. Pure: goes by the program's own commands, arguments and options, so
  that a new one is completed without another line here. Names that are only known to the state are
  named by their kind.
*/

export type Wanted =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'place' }
  | { readonly kind: 'topology'; readonly place: string }
  /** A process or a container of a topology. */
  | { readonly kind: 'part'; readonly place: string; readonly topology: string }
  /** A dead letter of a topology. */
  | { readonly kind: 'letter'; readonly place: string; readonly topology: string }
  /** The shell's own business. */
  | { readonly kind: 'file' };

const NOTHING: Wanted = { kind: 'words', words: [] };

/** `words` are those after `heron`; the last one, maybe empty, is being written. */
export function wantedAt(program: CommandUnknownOpts, words: readonly string[]): Wanted {
  const current = words.at(-1) ?? '';
  const { command, given, option, isAfterDashes } = read(program, words.slice(0, -1));
  if (option !== undefined) return wordsOf(option.argChoices);
  if (current.startsWith('-') && !isAfterDashes) return wordsOf(optionsOf(command));
  if (command.commands.length > 0 && given.length === 0) return wordsOf(namesOf(command));
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  const argument = all[given.length] ?? (last?.variadic === true ? last : undefined);
  const [place = '', topology = ''] = given;
  switch (argument?.name() ?? '') {
    case 'place':
      return { kind: 'place' };
    case 'topology':
      return { kind: 'topology', place };
    case 'what':
    case 'process':
      return { kind: 'part', place, topology };
    case 'ids':
      return { kind: 'letter', place, topology };
    case 'file':
    case 'args':
      return { kind: 'file' };
    case 'command':
      return wordsOf(namesOf(program));
    default:
      return wordsOf(argument?.argChoices);
  }
}

interface Read {
  readonly command: CommandUnknownOpts;
  readonly given: readonly string[];
  /** The one whose value is being written. */
  readonly option: CommandUnknownOpts['options'][number] | undefined;
  readonly isAfterDashes: boolean;
}

function read(program: CommandUnknownOpts, words: readonly string[]): Read {
  let command = program;
  let option: Read['option'];
  let isAfterDashes = false;
  const given: string[] = [];
  for (const word of words) {
    const subcommand = command.commands.find((candidate) => candidate.name() === word);
    if (option !== undefined) option = undefined;
    else if (isAfterDashes) given.push(word);
    else if (word === '--') isAfterDashes = true;
    else if (word.startsWith('-')) option = openOption(command, word);
    else if (given.length === 0 && subcommand !== undefined) command = subcommand;
    else given.push(word);
  }
  return { command, given, option, isAfterDashes };
}

/** An option that takes the next word. */
function openOption(command: CommandUnknownOpts, word: string): Read['option'] {
  const option = command.options.find(({ long, short }) => long === word || short === word);
  return option?.required === true ? option : undefined;
}

function namesOf(command: CommandUnknownOpts): readonly string[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((subcommand) => subcommand.name());
}

function optionsOf(command: CommandUnknownOpts): readonly string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? []);
}

function wordsOf(words: readonly string[] | undefined): Wanted {
  return words === undefined ? NOTHING : { kind: 'words', words };
}
