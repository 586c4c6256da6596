import { environmentError } from '../base/errors.ts';
import { ENGINE_VERSION } from '../base/version.ts';

/** The file in an archive that says which engine made it, and when. */
export const MANIFEST_FILE = 'heron-ts.json';

export interface ArchiveManifest {
  readonly engineVersion: string;
  readonly createdAtMs: number;
}

export function encodeManifest(manifest: ArchiveManifest): string {
  return `${JSON.stringify(manifest)}\n`;
}

/**
 * Refuses an archive that this engine should not run.
 *
 * @throws EngineError ARCHIVE_INVALID, or VERSION_MISMATCH which names both versions
 */
export function checkManifest(text: string): void {
  const { engineVersion } = parseManifest(text);
  if (engineVersion === ENGINE_VERSION) return;
  throw environmentError(
    'VERSION_MISMATCH',
    `the topology was packaged by heron-ts ${engineVersion}, and this is heron-ts ` +
      `${ENGINE_VERSION}; submit it again with the version that is to run it`,
  );
}

function parseManifest(text: string): ArchiveManifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw environmentError('ARCHIVE_INVALID', `its ${MANIFEST_FILE} is not JSON`, { cause });
  }
  const { engineVersion, createdAtMs } = (value ?? {}) as Partial<ArchiveManifest>;
  if (typeof engineVersion === 'string' && typeof createdAtMs === 'number') {
    return { engineVersion, createdAtMs };
  }
  throw environmentError('ARCHIVE_INVALID', `its ${MANIFEST_FILE} names no engine version`);
}
