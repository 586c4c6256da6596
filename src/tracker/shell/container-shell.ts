import type { FileData, FileStats, ShellOutput } from '../../topology-client/container-answers.ts';

/** What a Tracker asks the shell of a container: ours or Heron's. */
export interface ContainerShell {
  pid(process: string): Promise<ShellOutput>;
  stack(process: string): Promise<ShellOutput>;
  /** Writes a file in the container. */
  heap(process: string): Promise<ShellOutput>;
  histo(process: string): Promise<ShellOutput>;
  fileData(path: string, range: ByteRange): Promise<FileData>;
  fileStats(path: string): Promise<FileStats>;
  download(
    path: string,
    range: ByteRange,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>>;
}

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}
