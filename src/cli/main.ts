import { systemClock } from '../base/clock.ts';
import { askPerson } from './ask-person.ts';
import { CLI_EXIT } from './exit-codes.ts';
import { Interrupts } from './interrupts.ts';
import { runCommandLine } from './run-command-line.ts';

/*
  The command `heron`. The first Ctrl-C lets the command clean up after itself; the second one ends
  it on the spot, and the next command does the rest.
*/

const interruption = new AbortController();
const interrupts = new Interrupts();

function interrupt(): void {
  const wish = interrupts.take(systemClock.now());
  // oxlint-disable-next-line unicorn/no-process-exit -- the user does not want to wait any more.
  if (wish === 'end-at-once') process.exit(CLI_EXIT.interrupted);
  if (wish === 'end-cleanly') interruption.abort();
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt);

// Whoever reads our output may have seen enough: `heron logs … | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  // oxlint-disable-next-line unicorn/no-process-exit -- there is nobody left to write for.
  process.exit(CLI_EXIT.ok);
});

const { stdin: input, stdout: output } = process;
const { signal } = interruption;
const ask = (question: string): Promise<boolean> =>
  askPerson(question, { input, output, interruption: signal, onInterrupt: interrupt });

process.exitCode = await runCommandLine({
  args: process.argv.slice(2),
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
  interruption: signal,
  ...(input.isTTY && output.isTTY && { ask, terminal: { input, output } }),
});
