import type { Readable } from 'node:stream';
import { messageOf } from '../base/errors.ts';
import { tellParent } from '../net/beat-pipe.ts';
import { readLines } from '../net/parent-pipe.ts';
import type { Inspected } from './inspected.ts';
import { type InspectionWish, parseRequest } from './requests.ts';

/** Answers what the process that started this one asks (requests.ts). Called once in a process. */
export function answerParent(input: Readable, inspected: Inspected): void {
  let isBusy = false;
  readLines(input, (line) => {
    const request = parseRequest(line);
    if (request === undefined) return;
    const { id, wish } = request;
    if (isBusy) {
      tellParent(JSON.stringify({ id, problem: 'the process is being inspected already' })); // I2
      return;
    }
    isBusy = true;
    void answerTo(wish, inspected).then((answer) => {
      isBusy = false;
      tellParent(JSON.stringify({ id, ...answer }));
      return undefined;
    });
  });
}

/** Never rejects (I4). */
async function answerTo(wish: InspectionWish, inspected: Inspected): Promise<object> {
  try {
    const { inspect } = await import('./inspect.ts'); // I1
    return { result: await inspect(wish, inspected) };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
