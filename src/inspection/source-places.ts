import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

const MAP_ADDRESS = /\n\/\/# sourceMappingURL=(\S+)\s*$/;

/** Lines and columns count from 1. */
export interface SourcePlace {
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

/**
 * Finds where the author wrote what stands at a place of a loaded file: through the file's source
 * map when it has one. Maps are read here, because Node keeps those that it knows to the thread
 * that loaded the file. Each is read once in the life of this object.
 */
export class SourcePlaces {
  readonly #maps = new Map<string, SourceMap | undefined>();

  /** The place itself when nothing else is known. */
  find(place: SourcePlace): SourcePlace {
    const { url, line, column } = place;
    let map = this.#maps.get(url);
    if (map === undefined && !this.#maps.has(url)) {
      map = mapOf(url);
      this.#maps.set(url, map);
    }
    const origin = map?.findOrigin(line, column);
    return origin !== undefined && 'fileName' in origin
      ? { url: origin.fileName, line: origin.lineNumber, column: origin.columnNumber }
      : place;
  }
}

/** `<url>:<line>:<column>`, for people. */
export function sourcePlace(url: string, line: number, column: number): string {
  const place = new SourcePlaces().find({ url, line, column });
  return `${place.url}:${place.line}:${place.column}`;
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
