import { dirname, join } from 'node:path';
import { environmentError, messageOf, userError } from '../../base/errors.ts';
import type { Files } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { removeIfThere } from '../../base/optional-files.ts';
import { type Random, randomHex } from '../../base/random.ts';
import { unless } from '../../base/system-codes.ts';
import type { Uploader } from '../uploader.ts';

export interface FileUploaderOptions {
  /** Holds the archives of one topology; made with the first one, removed with the last. */
  readonly folder: string;
  readonly random: Random;
  readonly files: Files;
}

const NAME = /^[A-Za-z0-9_-]{1,200}$/;
const EXTENSION = '.tar.gz';

/** Keeps archives in a folder that all containers can reach; a location is a file's path. */
export class FileUploader implements Uploader {
  readonly #folder: string;
  readonly #random: Random;
  readonly #files: Files;

  constructor({ folder, random, files }: FileUploaderOptions) {
    this.#folder = folder;
    this.#random = random;
    this.#files = files;
  }

  async upload(name: string, archivePath: string): Promise<string> {
    if (!NAME.test(name)) {
      const text = `an upload's name has letters, digits, '-' and '_', not ${JSON.stringify(name)}`;
      throw userError('INVALID_ARGUMENT', text);
    }
    const location = join(this.#folder, `${name}${EXTENSION}`);
    await attempt(`store ${archivePath} as ${location}`, async () => {
      await makeFolder(this.#files, this.#folder);
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
      await removeIfThere(this.#files, location);
      await this.#removeFolderIfEmpty();
    });
  }

  async clear(): Promise<void> {
    await attempt(`remove ${this.#folder}`, () => this.#files.removeTree(this.#folder));
  }

  /** U1: the copy gets its name when it is complete. */
  async #copy(from: string, to: string): Promise<void> {
    const partial = join(dirname(to), `.partial-${randomHex(this.#random, 8)}`);
    try {
      await this.#files.copy(from, partial);
      await this.#files.rename(partial, to);
    } catch (error) {
      await removeIfThere(this.#files, partial);
      throw error;
    }
  }

  async #removeFolderIfEmpty(): Promise<void> {
    const expected = ['ENOTEMPTY', 'EEXIST', 'ENOENT'];
    await unless(expected, this.#files.removeFolder(this.#folder), undefined);
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
