import type { ManualClock } from './manual-clock.ts';
import { settled } from './settled.ts';

const STEP_MS = 10;

/** Lets time pass until the work is done. */
export async function timePassing<Result>(
  clock: ManualClock,
  work: Promise<Result>,
): Promise<Result> {
  const state = { isDone: false };
  const setDone = (): void => {
    state.isDone = true;
  };
  void work.then(setDone, setDone);
  await settled();
  while (!state.isDone) {
    clock.advance(STEP_MS);
    await settled();
  }
  return work;
}
