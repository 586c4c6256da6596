import type { Sample, SampleWish } from '../model/sample.ts';

/** What a process can say of itself. */
export interface Inspected {
  /** The thread that is looked at: that of the caller, or the main one from another thread. */
  readonly thread: 'own' | 'main';
  /** For people: what the thread is doing; it stands above its stack. */
  readonly activity?: () => string;
  /** The next tuples that the task emits. Absent where there is no task. */
  readonly sample?: (wish: SampleWish) => Promise<Sample>;
}
