/** What the operating system's codes say; the texts are Linux's. */
const TEXTS = {
  EBUSY: 'resource busy or locked',
  EEXIST: 'file already exists',
  EINVAL: 'invalid argument',
  EIO: 'i/o error',
  EISDIR: 'illegal operation on a directory',
  ENOENT: 'no such file or directory',
  ENOSPC: 'no space left on device',
  ENOTDIR: 'not a directory',
  ENOTEMPTY: 'directory not empty',
  EPERM: 'operation not permitted',
} as const;

export type SystemCode = keyof typeof TEXTS;

/** An error as Node makes them of failed calls. */
export interface SystemError extends Error {
  readonly code: string;
  readonly syscall: string;
  readonly path: string;
}

/**
 * Without a stack: these errors are answers that the engine expects, a missing file above all, and
 * their stacks, which nobody reads, took a twentieth of every run.
 */
export function systemError(
  code: SystemCode,
  syscall: string,
  path: string,
  dest?: string,
): SystemError {
  const to = dest === undefined ? '' : ` -> '${dest}'`;
  const message = `${code}: ${TEXTS[code]}, ${syscall} '${path}'${to}`;
  return Object.assign(withoutStack(message), { code, syscall, path });
}

function withoutStack(message: string): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return new Error(message);
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
