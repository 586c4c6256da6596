/** The operating system's code of a failed operation, such as `ENOENT`. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}

/** Waits for `operation`; an error with one of these system codes becomes `fallback`. */
export async function unless<T, F>(
  systemCodes: readonly string[],
  operation: Promise<T>,
  fallback: F,
): Promise<T | F> {
  try {
    return await operation;
  } catch (error) {
    if (systemCodes.includes(systemCodeOf(error) ?? '')) return fallback;
    throw error;
  }
}
