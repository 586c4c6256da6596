import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

/**
 * A new, empty folder: `await using folder = await temporaryFolder()` removes it at the end of the
 * block, `temporaryFolder(t)` at the end of the test.
 */
export async function temporaryFolder(t?: TestContext): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), 'heron-test-'));
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true });
  t?.after(remove);
  return { path, [Symbol.asyncDispose]: remove };
}
