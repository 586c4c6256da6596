import type { SourceFiles } from '../../src/api/source-files.ts';

/** Text files in memory, as a file source reads them. */
export class SourceDisk implements SourceFiles {
  readonly contents = new Map<string, Uint8Array>();
  /** How many bytes a read gives at most. */
  readBytesMax = Number.POSITIVE_INFINITY;
  openFiles = 0;

  put(path: string, text: string | Uint8Array): void {
    this.contents.set(path, typeof text === 'string' ? new TextEncoder().encode(text) : text);
  }

  append(path: string, text: string): void {
    const before = this.contents.get(path) ?? new Uint8Array();
    this.contents.set(path, Buffer.concat([before, new TextEncoder().encode(text)]));
  }

  async open(path: string) {
    if (!this.contents.has(path)) throw notThere(path);
    this.openFiles += 1;
    return {
      read: async (into: Uint8Array, offset: number): Promise<number> => {
        const bytes = this.contents.get(path) ?? new Uint8Array();
        const count = Math.max(0, Math.min(into.length, bytes.length - offset, this.readBytesMax));
        into.set(bytes.subarray(offset, offset + count));
        return count;
      },
      size: async () => this.contents.get(path)?.length ?? 0,
      close: async () => void (this.openFiles -= 1),
    };
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.contents.get(path);
  }

  async replace(path: string, bytes: Uint8Array): Promise<void> {
    this.contents.set(path, bytes);
  }
}

function notThere(path: string): Error {
  return Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), {
    code: 'ENOENT',
  });
}
