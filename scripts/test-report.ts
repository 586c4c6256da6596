/*
  Joins the event streams of several test runs to one, which ends as a single run does: with one set
  of closing lines, whose numbers are the sums.
*/

import type { TestEvent } from 'node:test/reporters';

/** The closing lines of Node's runner, in its order. */
const CLOSING_LINES = ['tests', 'suites', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const;

/** Starts each run when the one before has ended; `onEnd` hears whether all of them passed. */
export async function* joinReports(
  runs: readonly (() => AsyncIterable<TestEvent>)[],
  onEnd: (success: boolean) => void,
): AsyncGenerator<TestEvent, void> {
  const sums = new Map<string, number>(CLOSING_LINES.map((name) => [name, 0]));
  const add = (name: string, value: number): void => {
    sums.set(name, (sums.get(name) ?? 0) + value);
  };
  let success = true;
  for (const start of runs) {
    for await (const event of start()) {
      if (event.type === 'test:summary' && event.data.file === undefined) {
        success &&= event.data.success;
      } else {
        const line = closingLine(event);
        if (line === undefined) yield event;
        else add(line.name, line.value);
      }
    }
  }
  for (const [name, value] of sums) {
    yield {
      type: 'test:diagnostic',
      data: { nesting: 0, message: `${name} ${value}`, level: 'info' },
    };
  }
  onEnd(success);
}

/** A line about a whole run names no file; whatever a test itself reports does. */
function closingLine(event: TestEvent): { name: string; value: number } | undefined {
  if (event.type !== 'test:diagnostic' || event.data.file !== undefined) return undefined;
  const [, name, value] = /^(\w+) ([\d.]+)$/.exec(event.data.message) ?? [];
  return name === undefined ? undefined : { name, value: Number(value) };
}
