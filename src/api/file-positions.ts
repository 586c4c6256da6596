import { messageOf, userError } from '../base/errors.ts';
import type { SourceFiles } from './source-files.ts';

/**
 * How far the files of a file source have been committed: a small file for each, so that a file
 * keeps its position when another task reads it after a change of parallelism.
 *
 *     <folder>/<component>-<hash of the path>.json     {"file":"/data/a.txt","offset":4711}
 *
 * Of a file that has an end, `"doneBy"` is the id of the topology that has processed all of it.
 */
export class FilePositions {
  readonly #files: SourceFiles;
  readonly #folder: string;
  readonly #component: string;

  constructor(files: SourceFiles, folder: string, component: string) {
    this.#files = files;
    this.#folder = folder;
    this.#component = component;
  }

  /**
   * The offset behind the last line that was committed; undefined when none has been.
   *
   * @throws EngineError INVALID_ARGUMENT when what is there is no position; what reading throws.
   */
  async read(path: string): Promise<number | undefined> {
    return (await this.#read(path))?.offset;
  }

  /** Whether a topology has processed all of a file. Throws as `read` does. */
  async isDone(path: string, topologyId: string): Promise<boolean> {
    return (await this.#read(path))?.doneBy === topologyId;
  }

  write(path: string, offset: number, doneBy?: string): Promise<void> {
    const text = `${JSON.stringify({ file: path, offset, doneBy })}\n`;
    return this.#files.replace(this.#placeOf(path), new TextEncoder().encode(text));
  }

  async #read(
    path: string,
  ): Promise<{ readonly offset: number; readonly doneBy: unknown } | undefined> {
    const place = this.#placeOf(path);
    const bytes = await this.#files.read(place);
    if (bytes === undefined) return undefined;
    const { file, offset, doneBy } = membersOf(bytes, place);
    if (file === path && typeof offset === 'number' && Number.isSafeInteger(offset)) {
      return { offset, doneBy };
    }
    throw unreadable(place, `it is not a position in ${path}`);
  }

  #placeOf(path: string): string {
    const { createHash } = process.getBuiltinModule('node:crypto');
    const hash = createHash('sha256').update(path).digest('hex').slice(0, 16);
    return `${this.#folder}/${this.#component}-${hash}.json`;
  }
}

function membersOf(bytes: Uint8Array, place: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(new TextDecoder().decode(bytes))) as Record<string, unknown>;
  } catch (cause) {
    throw unreadable(place, messageOf(cause));
  }
}

function unreadable(place: string, why: string): Error {
  const advice = 'without it the file would be read from the start: remove it if that is meant';
  const text = `the position in ${place} cannot be read: ${why}; ${advice}`;
  return userError('INVALID_ARGUMENT', text);
}
