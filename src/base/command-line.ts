import { parseArgs } from 'node:util';
import { messageOf, userError } from './errors.ts';

/** What the executor tells every process of a container, besides the token. */
export const COMMON_FLAGS = [
  'topology-name',
  'topology-id',
  'cluster',
  'role',
  'environ',
  'host',
  'container-id',
  'state',
  'definition-file',
  'log-directory',
] as const;

export interface WholeNumberLimits {
  readonly min: number;
  readonly max: number;
}

/** 0 lets the operating system choose. */
export const PORT: WholeNumberLimits = { min: 0, max: 65_535 };

/** The flags of an engine process; each is required and has a value: `--name=value`. */
export class CommandLine<Flag extends string> {
  readonly #values: Readonly<Partial<Record<string, string>>>;

  /** @throws EngineError INVALID_ARGUMENT for a flag that is unknown or without a value. */
  constructor(args: readonly string[], flags: readonly Flag[]) {
    const options = Object.fromEntries(flags.map((flag) => [flag, { type: 'string' as const }]));
    try {
      this.#values = parseArgs({ args: [...args], options, strict: true }).values;
    } catch (cause) {
      throw wrong(messageOf(cause));
    }
  }

  /** @throws EngineError INVALID_ARGUMENT when the flag is missing or empty. */
  text(flag: Flag): string {
    const value = this.#values[flag];
    if (value === undefined || value === '') throw wrong(`--${flag} is missing`);
    return value;
  }

  /** @throws EngineError INVALID_ARGUMENT when the flag is missing or out of range. */
  wholeNumber(flag: Flag, { min, max }: WholeNumberLimits): number {
    const text = this.text(flag);
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw wrong(`--${flag}: expected a whole number from ${min} to ${max}, got '${text}'`);
  }
}

/**
 * The topology's secret. It comes in the environment, where other users cannot see it.
 *
 * @throws EngineError INVALID_ARGUMENT when it is missing or empty.
 */
export function tokenFromEnvironment(environment: NodeJS.ProcessEnv): string {
  const token = environment['HERON_TOKEN'];
  if (token === undefined || token === '') throw wrong('HERON_TOKEN is missing');
  return token;
}

function wrong(what: string) {
  return userError('INVALID_ARGUMENT', `${what}; engine processes are started by an executor`);
}
