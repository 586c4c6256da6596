import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { environmentError, messageOf } from '../../base/errors.ts';
import type { Inspected } from '../../topology-client/container-answers.ts';
import type { ContainerClient } from '../../topology-client/container-client.ts';

/**
 * Brings what an inspection has left in a container to this machine, whatever its size. It replaces
 * a file of the same name.
 *
 * @param out In place of its own name in the working directory.
 * @returns Where it is, as an absolute path.
 * @throws EngineError FILE_FAILED, or what the client throws
 */
export async function fetchFile(
  client: ContainerClient,
  { file }: Inspected,
  out: string | undefined,
  interruption: AbortSignal,
): Promise<string> {
  const path = resolve(out ?? basename(file));
  const content = await client.download(file, {}, interruption);
  try {
    await pipeline(Readable.from(content), createWriteStream(path, { mode: 0o600 }));
  } catch (cause) {
    await rm(path, { force: true }).catch(() => {}); // The first failure says more.
    throw environmentError('FILE_FAILED', `cannot write ${path}: ${messageOf(cause)}`, { cause });
  }
  return path;
}
