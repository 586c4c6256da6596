import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from './entry.ts';

/** The engine's version, which peers compare when they register. */
export const ENGINE_VERSION: string = readVersion();

function readVersion(): string {
  const description: unknown = JSON.parse(
    readFileSync(join(packageRoot(), 'package.json'), 'utf8'),
  );
  return (description as { readonly version: string }).version;
}
