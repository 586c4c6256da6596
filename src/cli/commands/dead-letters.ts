import { userError } from '../../base/errors.ts';
import type { ContainerId } from '../../base/ids.ts';
import type { DeadLetter, DeadLetterKind, DeadLetterRequest } from '../../model/dead-letter.ts';
import { didYouMean } from '../../model/nearest.ts';
import { quotable } from '../../model/quotable.ts';
import { AdvisedError, Interrupted } from '../advised-error.ts';
import { targetOf } from '../cluster.ts';
import type { CommandContext, CommandResult } from '../command-context.ts';
import { withCommandLock } from '../command-lock.ts';
import { askTasks, leaveRequests, type TaskAnswer } from '../dead-letters/ask-tasks.ts';
import {
  chosenLetters,
  letterFolders,
  lettersText,
  type LetterFile,
  type LetterFilter,
  readLetterFiles,
} from '../dead-letters/letter-files.ts';
import { letterTable, letterText, listedLetter, shownLetter } from '../dead-letters/letter-text.ts';
import { removeLetters } from '../dead-letters/remove-letters.ts';
import { findTopology, type FoundTopology, type TopologyArguments } from '../find-topology.ts';
import { lockOf } from '../submission.ts';

const MS_PER_SECOND = 1000;

export interface ListLettersArguments extends TopologyArguments {
  readonly component?: string | undefined;
  readonly reason?: DeadLetterKind | undefined;
  readonly beforeMs?: number | undefined;
  readonly limit: number;
}

/** Shows the newest dead letters of a topology, whether it runs or has completed. */
export async function listLetters(
  given: ListLettersArguments,
  context: CommandContext,
): Promise<CommandResult> {
  await using found = await findTopology(given, context);
  const { name } = found.status.record;
  const files = await lettersOf(found);
  checkComponent(found, given.component, files);
  const letters = newestFirst(chosenLetters(files, given));
  const shown = letters.slice(0, given.limit);
  const listed = shown.map(({ letter, container }) => listedLetter(letter, container));
  const skippedLines = files.reduce((sum, file) => sum + file.skippedLines, 0);
  const lines = [
    ...(letters.length === 0
      ? [`${name} has no dead letters${isFiltered(given) ? ' of this kind' : ''}`]
      : [letterTable(listed, context.output)]),
    ...moreLines(letters.length, listed.at(-1)?.at, shown.length),
    ...(skippedLines === 0 ? [] : [`${skippedLines} lines of their files cannot be read`]),
  ];
  return {
    json: { name, id: found.status.id, total: letters.length, letters: listed, skippedLines },
    text: lines.join('\n'),
  };
}

/** Shows dead letters whole: values, error and stack. */
export async function showLetters(
  given: TopologyArguments & { readonly ids: readonly string[] },
  context: CommandContext,
): Promise<CommandResult> {
  await using found = await findTopology(given, context);
  const files = chosenByIds(await lettersOf(found), given, found);
  const letters = newestFirst(files).map(({ letter, container }) => shownLetter(letter, container));
  return {
    json: { name: found.status.record.name, id: found.status.id, letters },
    text: letters.map((letter) => letterText(letter, context.output)).join('\n\n'),
  };
}

export interface ChangeLettersArguments extends TopologyArguments {
  /** Empty: all, or all that the other two leave. */
  readonly ids: readonly string[];
  readonly component?: string | undefined;
  readonly reason?: DeadLetterKind | undefined;
  readonly timeoutSeconds: number;
}

/** Lets the spouts emit dead letters again; each goes once it has been processed. */
export async function replayLetters(
  given: ChangeLettersArguments & { readonly wait: boolean },
  context: CommandContext,
): Promise<CommandResult> {
  await using found = await findTopology(given, context);
  const { record, id } = found.status;
  if (!hasTasks(found)) {
    const text = `${record.name} does not run: there is nobody to emit its dead letters`;
    throw new AdvisedError('TOPOLOGY_NOT_READY', text, {
      domain: 'user',
      next: "submit it again, or see what they hold with 'heron dead-letters show'",
    });
  }
  const files = chosenByIds(await lettersOf(found), given, found);
  const requests = requestsOf('replay', files, given);
  const common = { name: record.name, id, ...found.place };
  if (!given.wait) {
    await leaveRequests(requests, context);
    const text = `${counted(files)} of ${record.name} will be emitted again`;
    return { json: { ...common, replayed: null, tasks: tasksOf(files) }, text };
  }
  const answers = await context.output.whileWaiting('waiting for the tasks', () =>
    askTasks(requests, given.timeoutSeconds * MS_PER_SECOND, context),
  );
  const replayed = checkAnswers(answers, given, context);
  context.afterStep('replay');
  return {
    json: { ...common, replayed, tasks: countsOf(answers) },
    text: `${lettersText(replayed)} of ${record.name} will be emitted again`,
  };
}

/** Removes dead letters; of a topology that runs, its tasks do it. */
export async function purgeLetters(
  given: ChangeLettersArguments & { readonly yes: boolean },
  context: CommandContext,
): Promise<CommandResult> {
  await using found = await findTopology(given, context);
  const { record, id } = found.status;
  const files = chosenByIds(await lettersOf(found), given, found);
  const common = { name: record.name, id, ...found.place };
  const isSure =
    given.yes || files.length === 0 || (await isConfirmed(files, record.name, context));
  const purged = isSure ? await purge(files, given, found, context) : 0;
  context.afterStep('purge');
  const text = `${lettersText(purged)} of ${record.name} ${purged === 1 ? 'was' : 'were'} removed`;
  return { json: { ...common, purged }, text };
}

async function purge(
  files: readonly LetterFile[],
  given: ChangeLettersArguments,
  found: FoundTopology,
  context: CommandContext,
): Promise<number> {
  if (!hasTasks(found)) {
    const lock = lockOf(found.cluster, context, found.status.record.name);
    return withCommandLock({ ...lock, command: 'heron dead-letters purge' }, async () => {
      let purged = 0;
      for (const file of files) purged += await removeLetters(file);
      return purged;
    });
  }
  const answers = await context.output.whileWaiting('waiting for the tasks', () =>
    askTasks(requestsOf('purge', files, given), given.timeoutSeconds * MS_PER_SECOND, context),
  );
  return checkAnswers(answers, given, context);
}

/** @throws EngineError INVALID_ARGUMENT where nobody can be asked. */
async function isConfirmed(
  files: readonly LetterFile[],
  name: string,
  { ask, output }: CommandContext,
): Promise<boolean> {
  if (ask === undefined || output.isJson) {
    throw userError('INVALID_ARGUMENT', 'there is nobody to ask; say --yes to remove dead letters');
  }
  return ask(`Remove ${counted(files)} of ${name} for good?`);
}

/** Whether there are tasks that own the letters. What an interrupted command left has none. */
function hasTasks({ status: { record, state } }: FoundTopology): boolean {
  return record.hasNodes && state !== 'HALF_DEAD';
}

async function lettersOf({
  cluster,
  place,
  status: { record, id },
}: FoundTopology): Promise<readonly LetterFile[]> {
  return readLetterFiles(await letterFolders(cluster, targetOf(place, record.name), id));
}

/** @throws EngineError INVALID_ARGUMENT when one of the ids, or the component, is not there. */
function chosenByIds(
  files: readonly LetterFile[],
  given: Pick<ChangeLettersArguments, 'ids' | 'component' | 'reason'>,
  found: FoundTopology,
): readonly LetterFile[] {
  checkComponent(found, given.component, files);
  const { ids, ...filter } = given;
  const chosen = chosenLetters(files, ids.length === 0 ? filter : { ...filter, ids: new Set(ids) });
  const there = new Set(chosen.flatMap(({ letters }) => letters.map(({ id }) => id)));
  const missing = ids.filter((id) => !there.has(id)).map((id) => `'${quotable(id)}'`);
  if (missing.length === 0) return chosen;
  const what = missing.length === 1 ? 'no such dead letter' : 'no such dead letters';
  const text = `${found.status.record.name} has ${what}: ${missing.join(', ')}`;
  throw new AdvisedError('INVALID_ARGUMENT', text, {
    domain: 'user',
    next: "'heron dead-letters list' shows those that are there",
  });
}

function checkComponent(
  { status: { record } }: FoundTopology,
  component: string | undefined,
  files: readonly LetterFile[],
): void {
  if (component === undefined || record.topology === undefined) return;
  // A letter may be older than the topology's present form.
  const known = new Set([
    ...record.topology.components.filter(({ kind }) => kind === 'spout').map(({ name }) => name),
    ...files.map((file) => file.component),
  ]);
  if (known.has(component)) return;
  const text = `${record.name} has no spout '${quotable(component)}'`;
  throw userError('INVALID_ARGUMENT', `${text}${didYouMean(component, known)}`);
}

function requestsOf(
  action: DeadLetterRequest['action'],
  files: readonly LetterFile[],
  given: ChangeLettersArguments,
) {
  // What comes while somebody thinks about a purge was not meant by it.
  const isAll = action === 'replay' && given.ids.length === 0 && given.reason === undefined;
  return files.map((file) => ({
    file,
    action,
    letters: isAll ? ('all' as const) : file.letters.map(({ id }) => id),
  }));
}

/**
 * How many letters the tasks have taken up.
 *
 * @throws EngineError REQUEST_TIMEOUT, TOPOLOGY_NOT_READY with what tasks have refused, or
 *   Interrupted.
 */
function checkAnswers(
  answers: readonly TaskAnswer[],
  { timeoutSeconds }: ChangeLettersArguments,
  { interruption }: CommandContext,
): number {
  const silent = answers.filter(({ answer }) => answer === undefined);
  const count = answers.reduce((sum, { answer }) => sum + (answer?.count ?? 0), 0);
  if (silent.length > 0 && interruption.aborted) {
    throw new Interrupted(
      `interrupted when ${lettersText(count)} had been taken up`,
      'the rest stays as it is; repeat the command when you like',
    );
  }
  if (silent.length > 0) {
    const tasks = silent.map(taskText).join(', ');
    const text = `no answer in ${timeoutSeconds} s from ${tasks}; the request was withdrawn`;
    throw new AdvisedError('REQUEST_TIMEOUT', text, {
      domain: 'environment',
      retryable: true,
      details: count === 0 ? [] : [`the others have taken up ${lettersText(count)}`],
      next: "'heron status' shows whether their processes run; then repeat the command",
    });
  }
  const refusals = answers.flatMap(({ answer, ...task }) =>
    answer?.refusal === undefined ? [] : [`${taskText(task)}: ${answer.refusal}`],
  );
  if (refusals.length === 0) return count;
  throw new AdvisedError('TOPOLOGY_NOT_READY', refusals.join('; '), {
    domain: 'user',
    details: count === 0 ? [] : [`the others have taken up ${lettersText(count)}`],
    next: 'docs/reliability.md says which spouts can emit dead letters again',
  });
}

interface FoundLetter {
  readonly letter: DeadLetter;
  readonly container: ContainerId;
}

function newestFirst(files: readonly LetterFile[]): readonly FoundLetter[] {
  return files
    .flatMap(({ letters, container }) => letters.map((letter) => ({ letter, container })))
    .toReversed()
    .toSorted((a, b) => b.letter.atMs - a.letter.atMs);
}

function isFiltered({ component, reason, beforeMs }: LetterFilter): boolean {
  return component !== undefined || reason !== undefined || beforeMs !== undefined;
}

function moreLines(total: number, last: string | undefined, shown: number): readonly string[] {
  if (last === undefined || shown === total) return [];
  return [`${total - shown} older ones: --before ${last}, or a larger --limit`];
}

function tasksOf(files: readonly LetterFile[]) {
  return files.map(({ component, task, letters }) => ({ component, task, count: letters.length }));
}

function countsOf(answers: readonly TaskAnswer[]) {
  return answers.map(({ component, task, answer }) => ({
    component,
    task,
    count: answer?.count ?? 0,
  }));
}

function counted(files: readonly LetterFile[]): string {
  return lettersText(files.reduce((sum, { letters }) => sum + letters.length, 0));
}

function taskText({ component, task }: Pick<TaskAnswer, 'component' | 'task'>): string {
  return `task ${task} of '${component}'`;
}
