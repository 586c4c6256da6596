import type { Files } from '../../base/files.ts';
import type { ProcessIdentities } from '../../base/process-identities.ts';

/** A process that writes, and the disk that it writes to. */
export interface WritingProcess {
  readonly files: Files;
  readonly processes: Pick<ProcessIdentities, 'own'>;
}

/** Whole or not at all, and without another process's file in the way. */
export async function writeJson(
  { files, processes }: WritingProcess,
  file: string,
  value: unknown,
): Promise<void> {
  const temporary = `${file}.${processes.own().pid}.new`;
  await files.write(temporary, Buffer.from(`${JSON.stringify(value)}\n`));
  await files.rename(temporary, file);
}
