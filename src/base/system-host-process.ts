import { flushCompileCache } from 'node:module';
import type { HostProcess, HostProcessEvents } from './host-process.ts';
import { writeToStandardError } from './log-file.ts';
import { isPipe } from './pipe.ts';

let isExiting = false;

/** The process that Node runs in. */
export const systemHostProcess: HostProcess = {
  setName(name) {
    process.title = [name, ...process.argv.slice(2)].join(' ');
  },

  watch(events) {
    process.on('SIGTERM', () => events.onSignal('SIGTERM'));
    process.on('SIGINT', () => events.onSignal('SIGINT'));
    process.on('uncaughtException', (error) => events.onUncaught('exception', error));
    process.on('unhandledRejection', (error) => events.onUncaught('rejection', error));
    process.on('beforeExit', () => events.onIdle());
    process.on('exit', (code) => handleExit(code, events));
  },

  watchParent(onGone) {
    // Only a pipe or a socket has another end that the parent may hold.
    if (!isPipe(0)) return;
    process.stdin.on('end', onGone).on('close', onGone).on('error', onGone).resume().unref();
  },

  exit(code) {
    isExiting = true;
    process.exit(code);
  },

  writeError: writeToStandardError,

  // Engine processes are killed more often than they end, and killed ones write no cache.
  handleLoaded: () => flushCompileCache(),
};

function handleExit(code: number, events: HostProcessEvents): void {
  if (isExiting) return;
  // This runs inside of that call: the stack behind it leads to the caller.
  const error = new Error(`process.exit(${code}) was called`);
  // oxlint-disable-next-line typescript/unbound-method -- Its frames are left out, not called.
  Error.captureStackTrace(error, process.exit);
  process.exitCode = events.onForeignExit(code, error);
}
