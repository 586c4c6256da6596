import { systemClock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { Sample } from '../model/sample.ts';
import type { Inspected } from './inspected.ts';
import { profileThread } from './cpu-profile.ts';
import { heapFigures } from './heap-figures.ts';
import { writeHeapSnapshot } from './heap-snapshot.ts';
import { mainThreadStack } from './main-thread-stack.ts';
import type { InspectionFile, InspectionText, InspectionWish } from './requests.ts';
import { stackFromOutside } from './stack-from-outside.ts';
import { withSession } from './thread-session.ts';

/**
 * Does what is wished, in this process.
 *
 * @throws EngineError INSPECTION_FAILED with what stands in the way
 */
export async function inspect(
  wish: InspectionWish,
  inspected: Inspected,
): Promise<InspectionText | InspectionFile | Sample> {
  const { thread, sample } = inspected;
  switch (wish.kind) {
    case 'stack':
      return { text: await stackText(inspected) };
    case 'heap-figures':
      return { text: await withSession(thread, systemClock, heapFigures) };
    case 'profile':
      return await withSession(thread, systemClock, (session) =>
        profileThread(session, wish, systemClock),
      );
    case 'heap':
      return await withSession(thread, systemClock, (session) => writeHeapSnapshot(session, wish));
    case 'sample':
      if (sample !== undefined) return await sample(wish);
      throw environmentError('INSPECTION_FAILED', 'only instances emit tuples');
  }
}

async function stackText({ thread, activity }: Inspected): Promise<string> {
  const stack = await (thread === 'main' ? mainThreadStack(systemClock) : stackFromOutside());
  const doing = activity === undefined ? [] : [activity()];
  const none =
    'no JavaScript runs in the main thread: it has nothing to do, or is inside a native call';
  return [...doing, stack ?? none].join('\n');
}
