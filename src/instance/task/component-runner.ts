/** What the task needs of the loop that runs its component: one for spouts, one for bolts. */
export interface ComponentRunner {
  /**
   * Runs the component. Resolves with `ended` when all input has ended and what the component had
   * to say has been emitted, with `stopped` after `stop`; rejects with what the component threw.
   * Called once; `active` is false while the topology is paused.
   */
  run(active: boolean): Promise<'ended' | 'stopped'>;
  /** The topology was activated or paused; takes effect between two calls of the component. */
  setActive(active: boolean): void;
  /** Ends a wait for input. */
  wake(): void;
  /** Makes `run` resolve at the next opportunity; never in the middle of a call. */
  stop(): void;
  /** Calls the component's last method, once `run` is over. */
  close(): Promise<void>;
}
