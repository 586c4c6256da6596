import { readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentError, messageOf } from '../../base/errors.ts';
import { randomHex } from '../../base/random.ts';
import { unless } from '../../base/system-codes.ts';
import {
  type DeadLetterAnswer,
  deadLetterAnswerFileName,
  type DeadLetterRequest,
  deadLetterRequestFileName,
  encodeDeadLetterRequest,
  parseDeadLetterAnswer,
} from '../../model/dead-letter.ts';
import type { CommandContext } from '../command-context.ts';
import { WakeUp } from '../logs/wake-up.ts';
import type { LetterFile } from './letter-files.ts';

/*
  A command's part of the conversation with the tasks that own dead letters (model/dead-letter.ts):
  it leaves a request beside the letters of each task, waits until all of them have answered, and
  takes the answers away. Who does not answer in time gets its request withdrawn, so that what was
  reported as not done is not done later.
*/

export interface TaskRequest {
  readonly file: Pick<LetterFile, 'folder' | 'component' | 'task'>;
  readonly action: DeadLetterRequest['action'];
  readonly letters: DeadLetterRequest['letters'];
}

/** What became of one request; no answer: it was withdrawn. */
export interface TaskAnswer {
  readonly component: string;
  readonly task: number;
  readonly answer: DeadLetterAnswer | undefined;
}

interface Asked {
  readonly component: string;
  readonly task: number;
  readonly requestFile: string;
  readonly answerFile: string;
  answer: DeadLetterAnswer | undefined;
}

/** Events of the file system make it quick, the periodic look makes it right. */
const LOOK_PERIOD_MS = 200;
/** Letters and digits; two commands must not have the same. */
const ID_BYTES = 8;

/** Leaves requests that nobody waits for. */
export async function leaveRequests(
  requests: readonly TaskRequest[],
  context: Pick<CommandContext, 'random'>,
): Promise<void> {
  for (const request of requests) await leave(request, false, context);
}

/**
 * Resolves when every task has answered, at the limit, or when the command is interrupted; none of
 * the requests is left then.
 *
 * @throws EngineError FILE_FAILED
 */
export async function askTasks(
  requests: readonly TaskRequest[],
  limitMs: number,
  context: Pick<CommandContext, 'clock' | 'random' | 'interruption'>,
): Promise<readonly TaskAnswer[]> {
  const { clock, interruption } = context;
  const deadlineMs = clock.now() + limitMs;
  using wake = new WakeUp(clock, LOOK_PERIOD_MS);
  const onInterruption = (): void => wake.now();
  interruption.addEventListener('abort', onInterruption);
  const asked: Asked[] = [];
  try {
    for (const request of requests) asked.push(await leave(request, true, context));
    wake.watchFolders([...new Set(requests.map(({ file }) => file.folder))]);
    for (;;) {
      await Promise.all(asked.map(takeAnswer));
      const isOver = clock.now() >= deadlineMs || interruption.aborted;
      if (isOver || asked.every(({ answer }) => answer !== undefined)) break;
      await wake.next();
    }
  } finally {
    interruption.removeEventListener('abort', onInterruption);
    await Promise.all(asked.map(withdraw));
  }
  return asked.map(({ component, task, answer }) => ({ component, task, answer }));
}

async function leave(
  { file: { folder, component, task }, action, letters }: TaskRequest,
  wantsAnswer: boolean,
  { random }: Pick<CommandContext, 'random'>,
): Promise<Asked> {
  const id = randomHex(random, ID_BYTES);
  const requestFile = join(folder, deadLetterRequestFileName(component, task, id));
  const temporary = `${requestFile}.new`;
  try {
    const request = encodeDeadLetterRequest({ id, action, letters, wantsAnswer });
    await writeFile(temporary, request, { mode: 0o600 });
    await rename(temporary, requestFile);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => {}); // The first failure says more.
    throw environmentError('FILE_FAILED', `cannot write ${requestFile}: ${messageOf(cause)}`, {
      cause,
    });
  }
  const answerFile = join(folder, deadLetterAnswerFileName(component, task, id));
  return { component, task, requestFile, answerFile, answer: undefined };
}

async function takeAnswer(asked: Asked): Promise<void> {
  if (asked.answer !== undefined) return;
  const bytes = await unless(['ENOENT'], readFile(asked.answerFile), undefined);
  asked.answer = bytes && parseDeadLetterAnswer(bytes);
}

/** The request of a task that has not answered, and every answer. */
async function withdraw(asked: Asked): Promise<void> {
  if (asked.answer === undefined) {
    await unless(['ENOENT'], unlink(asked.requestFile), undefined);
    await takeAnswer(asked); // A request that was gone has been taken up in this moment.
  }
  await rm(asked.answerFile, { force: true });
}
