import { readdir, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';

const EXTENSIONS = new Set(['.md', '.markdown', '.txt']);
const LICENCES = /^(licen[cs]e|copying|notice)(?![a-z])/i;

/**
 * The text files in the given places, sorted: Markdown, plain text and licences below folders, and
 * every file that is named itself. Links are not followed; a place that does not exist is an error.
 */
export async function textFilesBelow(places: readonly string[]): Promise<string[]> {
  const files = new Set<string>();
  for (const place of places) {
    const path = resolve(place);
    if ((await stat(path)).isFile()) {
      files.add(path);
      continue;
    }
    for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && isText(entry.name)) files.add(join(entry.parentPath, entry.name));
    }
  }
  return [...files].toSorted();
}

function isText(name: string): boolean {
  return EXTENSIONS.has(extname(name).toLowerCase()) || LICENCES.test(name);
}
