import { Worker } from 'node:worker_threads';
import { entryFile } from '../base/entry.ts';

/** The stack of this process's main thread, taken by a thread that is made for it and ends. */
export function stackFromOutside(): Promise<string | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const worker = new Worker(entryFile('inspection/stack-thread/main'));
  worker.once('message', (stack: string | undefined) => resolve(stack));
  worker.once('error', reject);
  worker.once('exit', () => resolve(undefined)); // Says nothing where the stack has come.
  return promise;
}
