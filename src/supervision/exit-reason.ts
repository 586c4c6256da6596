import { EXIT } from '../base/exit-codes.ts';

/*
  Why a process ended, in one sentence. Pure: what the operating system and the process's last
  lines tell goes in, what a person should read first comes out.
*/

export interface ExitFacts {
  readonly code: number | null;
  readonly signal: string | null;
  readonly lastLines: readonly string[];
}

/** 128 + 9: a shell's way to say that a process inside was killed, mostly for want of memory. */
const KILLED_INSIDE = 137;

const HEAP_EXHAUSTED = /heap out of memory|Reached heap limit/;

const MEANINGS: ReadonlyMap<number, string> = new Map<number, string>([
  [EXIT.ok, 'without being asked to'],
  [EXIT.failure, 'after an unexpected failure'],
  [EXIT.badArguments, 'because its arguments or settings are wrong'],
  [EXIT.unavailable, 'because a peer or the state manager stayed away too long'],
  [EXIT.userCode, 'because user code failed'],
  [EXIT.portInUse, 'because a port was in use'],
  [EXIT.refused, 'because it was refused'],
  [KILLED_INSIDE, 'because it was killed from inside, most often for want of memory'],
]);

export function exitReason({ code, signal, lastLines }: ExitFacts): string {
  if (lastLines.some((line) => HEAP_EXHAUSTED.test(line))) {
    return 'ran out of JavaScript heap: give its component more RAM or keep less in memory';
  }
  if (signal === 'SIGKILL') {
    return 'killed by SIGKILL: by hand, or by the kernel because memory ran out';
  }
  if (signal !== null) return withLastError(`ended by ${signal}`, lastLines);
  if (code === null) return 'ended while nobody could see how';
  const meaning = MEANINGS.get(code);
  const sentence = meaning === undefined ? `ended with code ${code}` : `${meaning} (code ${code})`;
  return withLastError(meaning === undefined ? sentence : `ended ${sentence}`, lastLines);
}

function withLastError(sentence: string, lastLines: readonly string[]): string {
  const error = lastErrorOf(lastLines);
  return error === undefined ? sentence : `${sentence}: ${error}`;
}

/**
 * The line that most likely names the cause: what the engine's own frame wrote when it gave up
 * (`base/process-main.ts`), else the last error that Node printed.
 */
function lastErrorOf(lines: readonly string[]): string | undefined {
  const own = lines.findLast((line) =>
    /^[\w-]+ (?:cannot go on:|ends by|ends because) /.test(line),
  );
  const thrown = lines.findLast((line) => /^(?:Uncaught )?\w*(?:Error|Exception)\b/.test(line));
  return (own ?? thrown)?.trim();
}
