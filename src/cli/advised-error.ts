import { EngineError, type EngineErrorOptions, type ErrorCode } from '../base/errors.ts';

export interface AdvisedErrorOptions extends EngineErrorOptions {
  /** What to do about it; completes the line "Next: …". */
  readonly next: string;
  /** Lines of others, shown as they are: the last ones of a process that died, say. */
  readonly details?: readonly string[];
}

/** An error of a command with a next step of its own, where that of its code says too little. */
export class AdvisedError extends EngineError {
  readonly next: string;
  readonly details: readonly string[];

  constructor(code: ErrorCode, message: string, options: AdvisedErrorOptions) {
    super(code, message, options);
    this.next = options.next;
    this.details = options.details ?? [];
  }
}

/** Ctrl-C: the command has cleaned up after itself. Not a failure, but no success either. */
export class Interrupted extends AdvisedError {
  constructor(message: string, next = 'nothing of it is left; start it again when you like') {
    super('CONNECTION_CLOSED', message, { domain: 'user', next });
  }
}
