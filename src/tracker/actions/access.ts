import { isSameSecret } from '../../base/secret.ts';
import { refusal } from '../tracker-error.ts';

/*
  Who may act through a Tracker.

  A1. Nobody, unless whoever started it allowed actions.
  A2. Whoever sends one of its tokens in the Authorization header. A page of another site cannot: a
      browser asks us first whether it may send that header, and we do not answer that question
      (request-rules.ts refuses such pages as well). No cookie is ever taken for a token, so that a
      browser cannot be made to send one unknowingly.
  A3. A refusal does not tell whether a token was nearly right.
*/

export interface AccessToken {
  /** Whose it is; stands in the audit log. */
  readonly name: string;
  readonly token: string;
}

const MISSING =
  'an action needs one of the tokens that heron tracker named at its start: ' +
  'Authorization: Bearer <token>';

/**
 * The name of who asks.
 *
 * @param authorization the value of the header of this name.
 * @param tokens undefined when actions are not allowed.
 * @throws HTTPException 401 or 403, with what to do.
 */
export function whoActs(
  authorization: string | undefined,
  tokens: readonly AccessToken[] | undefined,
): string {
  if (tokens === undefined) {
    throw refusal(403, 'this tracker only looks; it acts when started with --allow-actions');
  }
  const given = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
  // All are compared, so that the time does not tell which one came near.
  const [who] = tokens.filter(({ token }) => isSameSecret(given, token));
  if (who !== undefined) return who.name;
  throw refusal(401, given === undefined ? MISSING : 'this token is not known here');
}
