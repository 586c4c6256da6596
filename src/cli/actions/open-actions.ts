import { join } from 'node:path';
import { userError } from '../../base/errors.ts';
import { RotatingFile } from '../../base/rotating-file.ts';
import { BYTES_PER_MB } from '../../base/units.ts';
import { AuditLog } from '../../tracker/actions/audit-log.ts';
import type { ActionParts } from '../../tracker/routes/actions.ts';
import type { CommandContext } from '../command-context.ts';
import { commandActions } from './command-actions.ts';
import { readTrackerTokens } from './tracker-tokens.ts';

/** What a Tracker was started with. */
export interface ActingChoice {
  readonly isAllowed: boolean;
  readonly tokenFile: string | undefined;
  readonly auditLog: string | undefined;
}

export interface OpenedActions extends Disposable {
  readonly actions: ActionParts;
  /** Undefined where nobody may act. */
  readonly files: { readonly tokenFile: string; readonly auditLog: string } | undefined;
}

/** An action takes some 300 bytes: a year of one in five minutes. */
const AUDIT_BYTES_MAX = 10 * BYTES_PER_MB;
const AUDIT_FILES_MAX = 5;

/**
 * What a Tracker may do: without `isAllowed` it answers questions only.
 *
 * @throws EngineError INVALID_ARGUMENT, INVALID_CONFIG, FILE_FAILED.
 */
export async function openActions(
  { isAllowed, ...chosen }: ActingChoice,
  context: CommandContext,
): Promise<OpenedActions> {
  const actions = commandActions(context);
  if (!isAllowed) {
    const idle = chosen.tokenFile === undefined ? chosen.auditLog : chosen.tokenFile;
    if (idle !== undefined) {
      throw userError('INVALID_ARGUMENT', `'${idle}' is for --allow-actions, which is missing`);
    }
    const looking = { actions, tokens: undefined, audit: undefined };
    return { actions: looking, files: undefined, [Symbol.dispose]: () => {} };
  }
  const { clock, dataRoot, currentUser: owner, random } = context;
  const tokenFile = chosen.tokenFile ?? join(dataRoot, 'tracker', 'tokens');
  const auditLog = chosen.auditLog ?? join(dataRoot, 'tracker', 'audit.jsonl');
  const tokens = await readTrackerTokens({ file: tokenFile, owner, random });
  const limits = { bytesMax: AUDIT_BYTES_MAX, filesMax: AUDIT_FILES_MAX };
  const file = new RotatingFile({ file: auditLog, ...limits });
  return {
    actions: { actions, tokens, audit: new AuditLog(file, clock) },
    files: { tokenFile, auditLog },
    [Symbol.dispose]: () => {
      file.close();
    },
  };
}
