import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import { ENGINE_VERSION } from '../base/version.ts';
import type { ConfigMap, LogicalTopology, TopologyState } from '../model/logical-topology.ts';
import { decodeTopology } from '../wire/topology.ts';
import { packArchive } from './archive.ts';
import { encodeManifest, MANIFEST_FILE } from './archive-manifest.ts';
import { BUNDLE_FILE, BUNDLE_MAP_FILE, bundleTopology } from './bundle.ts';
import { inspectModule } from './inspect-module.ts';
import { linkEngine } from './link-engine.ts';
import { randomUuid } from './topology-id.ts';

export interface PackageRequest {
  /** The topology module, relative to the working directory or absolute. */
  readonly file: string;
  /** Wins over the name in the module. */
  readonly name?: string;
  readonly args?: readonly string[];
  /** Settings of the submit; they win over the module's own. */
  readonly config?: ConfigMap;
  /** Settings of the cluster, which the module's own win over. */
  readonly baseConfig?: ConfigMap;
  /** RUNNING unless set. */
  readonly initialState?: TopologyState;
  /** Where the archive is written; made when it is missing. */
  readonly archiveFolder: string;
  /** How long the module may take to load. */
  readonly loadLimitMs?: number;
}

export interface PackagedTopology {
  readonly topology: LogicalTopology;
  /** `<archive folder>/<topology>.tar.gz` */
  readonly archivePath: string;
  /** Sentences for the author. */
  readonly warnings: readonly string[];
  /** The files that the module was bundled of. */
  readonly sources: readonly string[];
}

/**
 * Makes a submittable archive of a topology module: bundles it, builds its topology from the bundle
 * in a process of its own, and packs both. The bundle is what is inspected, because it is what will
 * run.
 *
 * @throws EngineError with what is wrong with the module, its topology or its settings
 */
export async function packageTopology(
  request: PackageRequest,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<PackagedTopology> {
  const staging = await mkdtemp(join(tmpdir(), 'heron-package-'));
  try {
    const { warnings, sources } = await bundleTopology(request.file, staging);
    await writeFile(join(staging, 'package.json'), '{"type":"module"}\n');
    await linkEngine(staging);
    const definition = await inspect(request, staging, { clock, random });
    const topology = decodeTopology(definition);
    const definitionFile = `${topology.name}.defn`;
    await writeFile(join(staging, definitionFile), definition);
    const manifest = { engineVersion: ENGINE_VERSION, createdAtMs: clock.wallNow() };
    await writeFile(join(staging, MANIFEST_FILE), encodeManifest(manifest));
    const archiveFolder = resolve(request.archiveFolder);
    await mkdir(archiveFolder, { recursive: true, mode: 0o700 });
    const archivePath = join(archiveFolder, `${topology.name}.tar.gz`);
    const files = [definitionFile, BUNDLE_FILE, BUNDLE_MAP_FILE, 'package.json', MANIFEST_FILE];
    await packArchive(archivePath, staging, files);
    return { topology, archivePath, warnings, sources };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

function inspect(
  request: PackageRequest,
  staging: string,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<Uint8Array> {
  const inspected = {
    file: join(staging, BUNDLE_FILE),
    shownAs: resolve(request.file),
    name: request.name,
    arguments: request.args ?? [],
    config: request.config ?? new Map(),
    baseConfig: request.baseConfig ?? new Map(),
    idSuffix: randomUuid(random),
    initialState: request.initialState ?? 'RUNNING',
    moduleFile: BUNDLE_FILE,
  };
  return inspectModule(inspected, clock, request.loadLimitMs);
}
