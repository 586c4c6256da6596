import { Session } from 'node:inspector';
import type { Clock } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';

/*
  A session of the inspector with one thread of this process. Requests reach also a thread that is
  busy in JavaScript, between two of its steps; one that is inside a native call hears nothing.
*/

/** A thread that has not heard of a request by then is inside a native call. */
const HEARD_MS_MAX = 5_000;

export interface ThreadSession {
  /** Asks and waits for the answer, or for `limitMs`; the session is of no use after that. */
  ask(method: string, parameters?: object, limitMs?: number): Promise<Answer>;
  on(event: string, listener: (message: { readonly params: Answer }) => void): void;
}

/** What the protocol's documents say; it is read with care where it is used. */
export type Answer = Readonly<Record<string, unknown>>;

/** Opens a session for as long as `work` takes; its end undoes what was enabled in it. */
export async function withSession<Result>(
  thread: 'own' | 'main',
  clock: Clock,
  work: (session: ThreadSession) => Promise<Result>,
): Promise<Result> {
  const session = new Session();
  if (thread === 'main') session.connectToMainThread();
  else session.connect();
  try {
    return await work({
      ask: (method, parameters, limitMs = HEARD_MS_MAX) =>
        ask({ session, clock }, { method, parameters, limitMs }),
      on: (event, listener) => void session.on(event, listener),
    });
  } finally {
    session.disconnect();
  }
}

interface Question {
  readonly method: string;
  readonly parameters: object | undefined;
  readonly limitMs: number;
}

function ask(
  { session, clock }: { readonly session: Session; readonly clock: Clock },
  { method, parameters, limitMs }: Question,
): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const limit = clock.after(limitMs, () => {
    const text = 'its main thread does not answer: it is inside a native call';
    reject(environmentError('INSPECTION_FAILED', text, { retryable: true }));
  });
  session.post(method, parameters, (error: Error | null, answer?: object) => {
    limit.cancel();
    if (error === null) resolve((answer ?? {}) as Answer);
    else reject(environmentError('INSPECTION_FAILED', `${method}: ${error.message}`));
  });
  return promise;
}
