import { chmod, copyFile, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { environmentError, messageOf, userError } from '../../base/errors.ts';
import { type Random, randomHex } from '../../base/random.ts';
import type { Uploader } from '../uploader.ts';

export interface FileUploaderOptions {
  /** Holds the archives of one topology; made with the first one, removed with the last. */
  readonly folder: string;
  readonly random: Random;
}

const NAME = /^[A-Za-z0-9_-]{1,200}$/;
const EXTENSION = '.tar.gz';

/** Keeps archives in a folder that all containers can reach; a location is a file's path. */
export class FileUploader implements Uploader {
  readonly #folder: string;
  readonly #random: Random;

  constructor({ folder, random }: FileUploaderOptions) {
    this.#folder = folder;
    this.#random = random;
  }

  async upload(name: string, archivePath: string): Promise<string> {
    if (!NAME.test(name)) {
      const text = `an upload's name has letters, digits, '-' and '_', not ${JSON.stringify(name)}`;
      throw userError('INVALID_ARGUMENT', text);
    }
    const location = join(this.#folder, `${name}${EXTENSION}`);
    await attempt(`store ${archivePath} as ${location}`, async () => {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await this.#copy(archivePath, location);
    });
    return location;
  }

  async fetch(location: string, toPath: string): Promise<void> {
    this.#checkLocation(location);
    await attempt(`fetch ${location} to ${toPath}`, () => this.#copy(location, toPath));
  }

  async remove(location: string): Promise<void> {
    this.#checkLocation(location);
    await attempt(`remove ${location}`, async () => {
      await rm(location, { force: true });
      await removeIfEmpty(this.#folder);
    });
  }

  async clear(): Promise<void> {
    await attempt(`remove ${this.#folder}`, () =>
      rm(this.#folder, { recursive: true, force: true, maxRetries: 3 }),
    );
  }

  /** U1: the copy gets its name when it is complete. */
  async #copy(from: string, to: string): Promise<void> {
    const partial = join(dirname(to), `.partial-${randomHex(this.#random, 8)}`);
    try {
      await copyFile(from, partial);
      await chmod(partial, 0o600);
      await rename(partial, to);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  /** Locations come back from records on disk: a damaged one must not remove anything else. */
  #checkLocation(location: string): void {
    if (dirname(location) === this.#folder && location.endsWith(EXTENSION)) return;
    const text = `${location} is not the location of an archive in ${this.#folder}`;
    throw userError('INVALID_ARGUMENT', text);
  }
}

async function attempt(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    throw environmentError('FILE_FAILED', `cannot ${what}: ${messageOf(cause)}`, { cause });
  }
}

async function removeIfEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST' && code !== 'ENOENT') throw error;
  }
}
