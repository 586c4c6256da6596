import { Socket } from 'node:net';
import { isPipe } from '../base/pipe.ts';

/**
 * Calls once when the process that started this one is gone: it holds the other end of our standard
 * input, which ends with it. Works in worker threads too, where `process.stdin` is only an echo of
 * the main thread's. Does nothing when standard input is no pipe. Keeps no event loop alive.
 */
export function watchParent(onGone: () => void): void {
  if (!isPipe(0)) return;
  let isGone = false;
  const gone = (): void => {
    if (isGone) return;
    isGone = true;
    onGone();
  };
  new Socket({ fd: 0, readable: true, writable: false })
    .on('end', gone)
    .on('close', gone)
    .on('error', gone)
    .resume()
    .unref();
}
