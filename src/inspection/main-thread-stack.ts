import { type Debugger, Session } from 'node:inspector';
import type { Clock } from '../base/clock.ts';
import { sourcePlace } from './source-places.ts';

/**
 * A thread that does not pause by then is inside a native call, where it has no JavaScript to show.
 * In JavaScript it pauses within milliseconds. A killed task's last moment has to suffice for it.
 */
const PAUSE_MS_MAX = 750;
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
  // Frames name their scripts by number; their addresses come when the debugger is enabled.
  const urls = new Map<string, string>();
  session.on('Debugger.scriptParsed', ({ params }) => urls.set(params.scriptId, params.url));
  const paused = new Promise<readonly Debugger.CallFrame[] | undefined>((resolve) => {
    const limit = clock.after(PAUSE_MS_MAX, () => resolve(undefined));
    session.on('Debugger.paused', ({ params }) => {
      limit.cancel();
      resolve(params.callFrames);
    });
  });
  post(session, 'Debugger.enable');
  post(session, 'Debugger.pause');
  const frames = await paused;
  post(session, 'Debugger.resume');
  post(session, 'Debugger.disable');
  return frames
    ?.slice(0, FRAMES_MAX)
    .map((frame) => frameText(frame, urls))
    .join('\n');
}

/** The answer comes when the thread is back; the events are what counts. */
function post(
  session: Session,
  method: 'Debugger.enable' | 'Debugger.pause' | 'Debugger.resume' | 'Debugger.disable',
): void {
  session.post(method, () => {});
}

function frameText(
  { functionName, location }: Debugger.CallFrame,
  urls: ReadonlyMap<string, string>,
): string {
  const { scriptId, lineNumber, columnNumber = 0 } = location;
  const url = urls.get(scriptId) ?? `script ${scriptId}`;
  // The inspector counts from 0, people and source maps from 1.
  const place = sourcePlace(url, lineNumber + 1, columnNumber + 1);
  return `    at ${functionName || '(anonymous)'} (${place})`;
}
