import type { LogFolder } from '../../scheduler/create.ts';
import { type LogFile, listLogFiles } from './log-files.ts';
import type { LogLine } from './log-line.ts';
import { mergeLines } from './merge-lines.ts';
import { readLines, type ReadPosition } from './read-lines.ts';

/**
 * Reads the log files of a topology, again and again: each line once, those of one look in the
 * order of time. Files are known by their inode, so rotation and moved folders lose nothing.
 */
export class LogReader {
  readonly #positions = new Map<number, ReadPosition>();

  /** What was written since the last look. `isFinal`: nobody writes there any more. */
  async *look(
    folders: readonly LogFolder[],
    { isFinal }: { readonly isFinal: boolean },
  ): AsyncGenerator<LogLine, void> {
    const byKey = Map.groupBy(await listLogFiles(folders), ({ key }) => key);
    const sources = [...byKey.values()].map((files) => this.#chain(files, isFinal));
    yield* mergeLines(sources);
  }

  /** A file and those that it was rotated out of, oldest first. */
  async *#chain(files: readonly LogFile[], isFinal: boolean): AsyncGenerator<LogLine, void> {
    for (const file of files) {
      const known = this.#positions.get(file.inode);
      // A smaller file under a known inode is another one: the number was given out again.
      const position = known !== undefined && known.offset <= file.bytes ? known : { offset: 0 };
      this.#positions.set(file.inode, position);
      yield* readLines(file, position, { isFinal: isFinal || file.age > 0 });
    }
  }
}
