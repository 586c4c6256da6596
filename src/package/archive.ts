import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as tar from 'tar';
import { EngineError, environmentError, messageOf } from '../base/errors.ts';
import { checkManifest, MANIFEST_FILE } from './archive-manifest.ts';

/*
  <topology>.tar.gz, all that a container needs besides the engine:

    <topology>.defn    the topology, as Heron stores it
    topology.mjs       the user's module with all that it imports, and its source map
    topology.mjs.map
    package.json       makes Node take the module for what it is
    heron-ts.json      archive-manifest.ts

  A1. Only files and folders below the target come out of an archive; anything else refuses it
      whole.
  A2. Nothing is in the target before everything has been checked.
*/

/** Far above any bundle; stops an archive that would fill the disk. */
const UNPACKED_BYTES_MAX = 1024 * 1024 * 1024;

const FOLDER_MODE = 0o700;

/** Packs files of one folder. */
export async function packArchive(
  archivePath: string,
  folder: string,
  fileNames: readonly string[],
): Promise<void> {
  try {
    // `portable` leaves out users and groups: they mean nothing on another machine.
    await tar.create({ file: archivePath, cwd: folder, gzip: true, portable: true }, [
      ...fileNames,
    ]);
  } catch (cause) {
    const text = `cannot write the archive ${archivePath}: ${messageOf(cause)}`;
    throw environmentError('FILE_FAILED', text, { cause });
  }
}

/**
 * Unpacks an archive into a folder, which is made when it is missing. A failure leaves the folder
 * as it was.
 *
 * @throws EngineError ARCHIVE_INVALID, VERSION_MISMATCH, FILE_FAILED
 */
export async function unpack(archivePath: string, folder: string): Promise<void> {
  const problem = await problemOf(archivePath);
  if (problem !== undefined) throw invalid(archivePath, problem);
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
    const staging = await mkdtemp(join(folder, '.unpacking-'));
    try {
      await tar.extract({ file: archivePath, cwd: staging, strict: true, preservePaths: false });
      checkManifest(await readFile(join(staging, MANIFEST_FILE), 'utf8'));
      for (const name of await readdir(staging))
        await rename(join(staging, name), join(folder, name));
    } finally {
      await rm(staging, { recursive: true, force: true });
    }
  } catch (cause) {
    if (cause instanceof EngineError && cause.code !== 'ARCHIVE_INVALID') throw cause;
    if (cause instanceof EngineError) throw invalid(archivePath, cause.message, cause);
    const text = `cannot unpack ${archivePath} into ${folder}: ${messageOf(cause)}`;
    throw environmentError('FILE_FAILED', text, { cause });
  }
}

/** What makes the archive unfit, from its headers alone; undefined when nothing does. */
async function problemOf(archivePath: string): Promise<string | undefined> {
  const problems: string[] = [];
  let unpackedBytes = 0;
  let hasManifest = false;
  try {
    await tar.list({
      file: archivePath,
      strict: true,
      onReadEntry(entry) {
        const problem = entryProblem(entry);
        if (problem !== undefined) problems.push(problem);
        unpackedBytes += entry.size;
        hasManifest ||= entry.path === MANIFEST_FILE;
      },
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'there is no such file';
    return messageOf(error);
  }
  if (unpackedBytes > UNPACKED_BYTES_MAX) problems.push(`it unpacks to ${unpackedBytes} bytes`);
  if (!hasManifest) problems.push(`it has no ${MANIFEST_FILE}`);
  return problems[0];
}

function entryProblem({ path, type }: tar.ReadEntry): string | undefined {
  const shown = JSON.stringify(path);
  if (type !== 'File' && type !== 'OldFile' && type !== 'Directory') {
    return `the entry ${shown} is a ${type}, not a file or folder`;
  }
  const leaves = path.startsWith('/') || path.includes('\\') || path.split('/').includes('..');
  return leaves ? `the entry ${shown} would leave the folder` : undefined;
}

function invalid(archivePath: string, problem: string, cause?: unknown): EngineError {
  return environmentError('ARCHIVE_INVALID', `cannot use the archive ${archivePath}: ${problem}`, {
    cause,
  });
}
