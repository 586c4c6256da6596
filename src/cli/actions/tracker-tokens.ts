import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { environmentError, messageOf, userError } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { systemCodeOf } from '../../base/system-codes.ts';
import type { AccessToken } from '../../tracker/actions/access.ts';

/*
  The tokens of a Tracker: a file that only its owner may read, with a name and a token in each
  line. Names tell in the audit log who did something. One is made when there is no file.
*/

const TOKEN_BYTES = 24;
/** Shorter ones could be guessed. */
const TOKEN_LENGTH_MIN = 16;
const OTHERS_MAY_READ = 0o077;

export interface TokenFileOptions {
  readonly file: string;
  /** Whose the token is that is made when there is no file. */
  readonly owner: string;
  readonly random: Random;
}

/** @throws EngineError INVALID_CONFIG naming the line, FILE_FAILED. */
export async function readTrackerTokens(
  options: TokenFileOptions,
): Promise<readonly AccessToken[]> {
  const { file } = options;
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [await makeToken(options)];
    throw environmentError('FILE_FAILED', `cannot read the tokens: ${messageOf(error)}`, {
      cause: error,
    });
  }
  await refuseOpenFile(file);
  return parseTokens(text, file);
}

async function makeToken({ file, owner, random }: TokenFileOptions): Promise<AccessToken> {
  const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('base64url');
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    // Two Trackers that start at once: one of them fails, and finds the other's file next time.
    await writeFile(file, `${owner} ${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const text = `cannot write the tokens to ${file}: ${messageOf(error)}`;
    throw environmentError('FILE_FAILED', text, { cause: error });
  }
  return { name: owner, token };
}

async function refuseOpenFile(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & OTHERS_MAY_READ) === 0) return;
  const text = `${file} holds tokens and others may read it: chmod 600 '${file}'`;
  throw userError('INVALID_CONFIG', text);
}

function parseTokens(text: string, file: string): readonly AccessToken[] {
  const tokens: AccessToken[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name, token] = /^\s*(\S+)\s+(\S+)\s*$/.exec(line) ?? [];
    const place = `line ${index + 1} of ${file}`;
    if (name === undefined || token === undefined) {
      throw userError('INVALID_CONFIG', `${place} is not written '<name> <token>'`);
    }
    if (token.length < TOKEN_LENGTH_MIN) {
      const fault = `is shorter than ${TOKEN_LENGTH_MIN} characters`;
      throw userError('INVALID_CONFIG', `the token in ${place} ${fault}`);
    }
    tokens.push({ name, token });
  }
  if (tokens.length > 0) return tokens;
  throw userError('INVALID_CONFIG', `${file} holds no token: remove it, and one is made`);
}
