import { dirname } from 'node:path';
import type { Clock, Timer } from '../../base/clock.ts';
import type { Files, FileWatch } from '../../base/files.ts';

/*
  Tells when one of the files changes that a topology was bundled of. Events of their folders make
  it quick, a periodic look makes it right: what counts is that a file is not what it was.
*/

/** Editors and formatters write a file several times; a person's next save is far away. */
const SETTLE_MS = 100;
const LOOK_PERIOD_MS = 500;

export interface SourceWatchOptions {
  readonly files: Pick<Files, 'watch' | 'facts'>;
  readonly clock: Clock;
  /** Once for a burst of changes. */
  readonly onChange: (file: string) => void;
}

export class SourceWatch implements Disposable {
  readonly #options: SourceWatchOptions;
  readonly #folders = new Map<string, FileWatch>();
  readonly #looks: Timer;
  /** What each file was when it was last looked at; undefined for one that is not there. */
  #versions = new Map<string, string | undefined>();
  #settling: Timer | undefined;
  #isLooking = false;

  constructor(options: SourceWatchOptions) {
    this.#options = options;
    this.#looks = options.clock.every(LOOK_PERIOD_MS, () => void this.#look());
  }

  /**
   * From now on these files count; those of installed packages do not change under a developer. One
   * that counted before is compared with what it was then, so no change in between is missed.
   */
  async watch(sources: readonly string[]): Promise<void> {
    const own = sources.filter((file) => !file.includes('/node_modules/'));
    const versions = await Promise.all(
      own.map(async (file) => {
        const known = this.#versions.has(file);
        return [file, known ? this.#versions.get(file) : await this.#versionOf(file)] as const;
      }),
    );
    this.#versions = new Map(versions);
    this.#watchFolders(new Set(own.map(dirname)));
  }

  [Symbol.dispose](): void {
    this.#looks.cancel();
    this.#settling?.cancel();
    for (const watch of this.#folders.values()) watch.close();
    this.#folders.clear();
  }

  #watchFolders(wanted: ReadonlySet<string>): void {
    for (const [folder, watch] of this.#folders) {
      if (wanted.has(folder)) continue;
      watch.close();
      this.#folders.delete(folder);
    }
    for (const folder of wanted) {
      if (this.#folders.has(folder)) continue;
      try {
        const watch = this.#options.files.watch(folder, {
          onChange: () => void this.#look(),
          onLost: () => this.#folders.delete(folder),
        });
        this.#folders.set(folder, watch);
      } catch {
        // No watches are left, or the folder has gone: the periodic look does it.
      }
    }
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const versions = this.#versions;
    for (const [file, before] of versions) {
      const now = await this.#versionOf(file);
      if (now === before) continue;
      versions.set(file, now);
      this.#settle(file);
    }
    this.#isLooking = false;
  }

  #settle(file: string): void {
    const { clock, onChange } = this.#options;
    this.#settling?.cancel();
    this.#settling = clock.after(SETTLE_MS, () => onChange(file));
  }

  async #versionOf(file: string): Promise<string | undefined> {
    try {
      const { bytes, inode, modifiedAtMs } = await this.#options.files.facts(file);
      return `${inode} ${bytes} ${modifiedAtMs}`;
    } catch {
      return undefined; // Being replaced, or gone.
    }
  }
}
