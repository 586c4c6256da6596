import { type Debugger, Session } from 'node:inspector';
import { findSourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../base/clock.ts';

/** A thread that does not pause by then is inside a native call, where it has no JavaScript to show. */
const PAUSE_MS_MAX = 2_000;
const FRAMES_MAX = 20;

/**
 * The stack of the main thread, taken from outside while it is stuck in JavaScript; undefined while
 * it is inside a native call. The thread is stopped for the moment of the look and then goes on.
 */
export async function mainThreadStack(clock: Clock): Promise<string | undefined> {
  const session = new Session();
  session.connectToMainThread();
  try {
    return await pausedStack(session, clock);
  } finally {
    session.disconnect();
  }
}

async function pausedStack(session: Session, clock: Clock): Promise<string | undefined> {
  const paused = new Promise<string | undefined>((resolve) => {
    const limit = clock.after(PAUSE_MS_MAX, () => resolve(undefined));
    session.on('Debugger.paused', ({ params }) => {
      limit.cancel();
      resolve(stackText(params.callFrames));
    });
  });
  post(session, 'Debugger.enable');
  post(session, 'Debugger.pause');
  const stack = await paused;
  post(session, 'Debugger.resume');
  post(session, 'Debugger.disable');
  return stack;
}

function post(
  session: Session,
  method: 'Debugger.enable' | 'Debugger.pause' | 'Debugger.resume' | 'Debugger.disable',
): void {
  session.post(method, () => {}); // The answer comes when the thread is back; the event is what counts.
}

function stackText(frames: readonly Debugger.CallFrame[]): string {
  return frames
    .slice(0, FRAMES_MAX)
    .map((frame) => `    at ${frame.functionName || '(anonymous)'} (${sourcePlace(frame)})`)
    .join('\n');
}

/** Where the user wrote it: through the bundle's source map when there is one. */
function sourcePlace({ url, location }: Debugger.CallFrame): string {
  const line = location.lineNumber + 1;
  const column = (location.columnNumber ?? 0) + 1;
  const place = mapped(url, line, column);
  return place ?? `${url}:${line}:${column}`;
}

function mapped(url: string, line: number, column: number): string | undefined {
  if (!url.startsWith('file:')) return undefined;
  const map = findSourceMap(fileURLToPath(url));
  if (map === undefined) return undefined;
  const origin = map.findOrigin(line, column);
  if (!('fileName' in origin)) return undefined;
  return `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`;
}
