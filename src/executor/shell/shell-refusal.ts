import { EngineError } from '../../base/errors.ts';

/** A request that is answered with one sentence and no more. */
export class ShellRefusal extends EngineError {
  readonly status: number;

  constructor(status: 400 | 403 | 404 | 405 | 409 | 503, sentence: string) {
    super('INVALID_ARGUMENT', sentence, { domain: 'user' });
    this.status = status;
  }
}
