/**
 * The operating system's process as `ProcessLife` (process-main.ts) needs it. The simulator brings
 * one of its own, so that the rules for starting, stopping and failing hold there too.
 */
export interface HostProcess {
  /** What `ps` shows, followed by the arguments. */
  setName(name: string): void;
  /** Called once, before anything else of the process runs. */
  watch(events: HostProcessEvents): void;
  /** Calls, maybe repeatedly, when the process that started this one is seen to be gone. */
  watchParent(onGone: () => void): void;
  /** Ends the process at once: nothing of it runs afterwards. */
  exit(code: number): void;
  /** To standard error, at once. */
  writeError(text: string): void;
  /** The code that the process needs is loaded: a good time to save its compiled form. */
  handleLoaded(): void;
}

export interface HostProcessEvents {
  onSignal(name: 'SIGTERM' | 'SIGINT'): void;
  /** Something was thrown and nobody has caught it. */
  onUncaught(kind: 'exception' | 'rejection', error: unknown): void;
  /** Nothing is left that could call the process again. */
  onIdle(): void;
  /**
   * Somebody else than `exit` ends the process by a call; the stack of `error` leads there.
   *
   * @returns The exit code to use.
   */
  onForeignExit(code: number, error: Error): number;
}
