import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  DEAD_LETTER_FOLDER,
  type DeadLetter,
  type DeadLetterAnswer,
  type DeadLetterRequest,
  deadLetterAnswerFileName,
  deadLetterFileName,
  encodeDeadLetter,
  encodeDeadLetterAnswer,
  parseDeadLetterRequest,
  requestIdOf,
} from '../../src/model/dead-letter.ts';
import { encodeValue } from '../../src/wire/values.ts';

/** The task that owns letters unless a test says otherwise. */
const LINES = { component: 'lines', task: 3 };

/** A letter of task 3 of `lines`. */
export function aLetter(id: string, fields: Partial<DeadLetter> = {}): DeadLetter {
  return {
    id,
    atMs: Date.UTC(2026, 0, 31, 10),
    topology: 'words',
    ...LINES,
    stream: 'default',
    fields: ['line'],
    values: [valueOf('{"a": ')],
    serialized: false,
    messageId: undefined,
    position: '{"offset":12}',
    attempts: 6,
    reason: {
      kind: 'thrown',
      component: 'split',
      task: 5,
      message: 'Unexpected end of JSON input',
      stack: 'SyntaxError: Unexpected end of JSON input\n    at Split.execute (split.ts:7:12)',
    },
    ...fields,
  };
}

/** As it stands in a letter. */
export function valueOf(value: unknown): string {
  const bytes = Buffer.alloc(1024);
  return bytes.subarray(0, encodeValue(value, bytes, 0)).toString('base64');
}

/** Writes the letter file of a task below the working directory of a container; gives its path. */
export async function writeLetters(
  workingDirectory: string,
  letters: readonly DeadLetter[],
  { component, task } = LINES,
): Promise<string> {
  const folder = join(workingDirectory, DEAD_LETTER_FOLDER);
  await mkdir(folder, { recursive: true });
  const file = join(folder, deadLetterFileName(component, task));
  await writeFile(file, Buffer.concat(letters.map((letter) => encodeDeadLetter(letter))));
  return file;
}

/** Does once what a task does every second: gives what it was asked. */
export async function takeUpRequests(
  folder: string,
  answer: (request: DeadLetterRequest) => DeadLetterAnswer,
  { component, task } = LINES,
): Promise<readonly DeadLetterRequest[]> {
  const requests: DeadLetterRequest[] = [];
  for (const name of await readdir(folder)) {
    const id = requestIdOf(name, component, task);
    if (id === undefined) continue;
    const request = parseDeadLetterRequest(await readFile(join(folder, name)));
    if (request === undefined) continue;
    requests.push(request);
    if (request.wantsAnswer) {
      const path = join(folder, deadLetterAnswerFileName(component, task, id));
      await writeFile(`${path}.new`, encodeDeadLetterAnswer(answer(request)));
      await rename(`${path}.new`, path);
    }
    await rm(join(folder, name));
  }
  return requests;
}
