import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Files } from '../../src/base/files.ts';

/** A disk for one test. */
export interface FilesUnderTest {
  readonly files: Files;
  /** A new, empty folder. */
  readonly folder: string;
  /** Waits, in the disk's own time, until `check` does not throw any more. */
  eventually(check: () => void): Promise<void>;
}

/** Opens a disk, lets time go by there while `body` runs, and ends as `body` does. */
export type OnFiles = (
  t: TestContext,
  body: (disk: FilesUnderTest) => Promise<void>,
) => Promise<void>;

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/*
  What a test finds in a furnished folder:

    <folder>/file           a file: 'text'
    <folder>/full/inner     a file: 'inside'
    <folder>/empty/         an empty folder
    <folder>/missing        nothing
*/
export async function furnish({ files, folder }: FilesUnderTest): Promise<void> {
  await files.write(`${folder}/file`, bytesOf('text'));
  await files.makeFolder(`${folder}/full`);
  await files.write(`${folder}/full/inner`, bytesOf('inside'));
  await files.makeFolder(`${folder}/empty`);
}

/** All that is below a folder: each file with its text, each folder with nothing. */
export async function treeOf(
  files: Files,
  folder: string,
): Promise<Record<string, string | undefined>> {
  const tree: Record<string, string | undefined> = {};
  for (const { name, isFolder } of await files.list(folder)) {
    const path = `${folder}/${name}`;
    tree[name] = isFolder ? undefined : textOf(await files.read(path));
    if (!isFolder) continue;
    const below = Object.entries(await treeOf(files, path));
    for (const [inner, text] of below) tree[`${name}/${inner}`] = text;
  }
  return tree;
}

/** The check of an error with one of the operating system's codes. */
export function isSystemError(code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Error);
    assert.equal((error as NodeJS.ErrnoException).code, code);
    assert.ok(error.message.startsWith(code), error.message);
    return true;
  };
}
