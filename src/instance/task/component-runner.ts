/** What the task needs of the loop that runs its component: one for spouts, one for bolts. */
export interface ComponentRunner {
  /**
   * Runs the component. Resolves with `ended` when all input has ended and what the component had to
   * say has been emitted, with `stopped` after `stop`; rejects with what the component threw.
   */
  run(): Promise<'ended' | 'stopped'>;
  /** The topology was activated or paused. */
  setActive(active: boolean): Promise<void>;
  /** Ends a wait for input. */
  wake(): void;
  /** Makes `run` resolve at the next opportunity; never in the middle of a call. */
  stop(): void;
  /** Calls the component's last method. */
  close(): Promise<void>;
}
