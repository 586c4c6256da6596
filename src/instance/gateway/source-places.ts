import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

const MAP_ADDRESS = /\n\/\/# sourceMappingURL=(\S+)\s*$/;

/**
 * Where the author wrote what stands at a place of a loaded file: through the file's source map
 * when it has one. Maps are read here, because Node keeps those that it knows to the thread that
 * loaded the file. Lines and columns count from 1.
 */
export function sourcePlace(url: string, line: number, column: number): string {
  const origin = mapOf(url)?.findOrigin(line, column);
  return origin !== undefined && 'fileName' in origin
    ? `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`
    : `${url}:${line}:${column}`;
}

/** Undefined for a file without a map, or with one that cannot be read: then the file itself. */
function mapOf(url: string): SourceMap | undefined {
  if (!url.startsWith('file:')) return undefined;
  try {
    const [, address] = MAP_ADDRESS.exec(readFileSync(fileURLToPath(url), 'utf8')) ?? [];
    if (address === undefined) return undefined;
    const text = readFileSync(new URL(address, url), 'utf8');
    return new SourceMap(JSON.parse(text) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
