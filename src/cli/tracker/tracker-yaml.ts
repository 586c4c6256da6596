import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { z } from 'zod';
import { messageOf, userError } from '../../base/errors.ts';

/*
  heron_tracker.yaml, as Heron's Tracker reads it:

    statemgrs:
      - type: zookeeper            # or file
        name: prod                 # by which people know it
        hostport: zk1:2181,zk2:2181
        rootpath: /heron
        tunnelhost: localhost      # passed over: connect to what can be reached
    extra.links:
      - name: Logs
        formatter: https://logs.example.net/${CLUSTER}/${TOPOLOGY}
*/

const link = z.object({ name: z.string().min(1), formatter: z.string().min(1) });

const stateStore = z.object({
  type: z.enum(['file', 'zookeeper']),
  name: z.string().min(1),
  hostport: z.string().nullish(),
  rootpath: z.string().min(1),
  tunnelhost: z.string().nullish(),
});

const file = z
  .object({
    statemgrs: z.array(stateStore).nullish(),
    'extra.links': z.array(link).nullish(),
  })
  .nullable();

export type StateStoreEntry = z.output<typeof stateStore>;

export interface TrackerFile {
  /** Undefined when the file says nothing of them. */
  readonly stores: readonly StateStoreEntry[] | undefined;
  readonly links: readonly z.output<typeof link>[];
}

/** @throws EngineError INVALID_CONFIG with the file and what is wrong in it. */
export async function readTrackerFile(path: string): Promise<TrackerFile> {
  let written: unknown;
  try {
    written = parse(await readFile(path, 'utf8'));
  } catch (error) {
    throw userError('INVALID_CONFIG', `${path}: ${messageOf(error)}`, error);
  }
  const read = file.safeParse(written ?? null);
  if (!read.success) {
    const wrong = read.error.issues.map(
      ({ path: at, message }) => `${at.map(String).join('.') || 'the file'}: ${message}`,
    );
    throw userError('INVALID_CONFIG', `${path}: ${wrong.join('; ')}`);
  }
  const stores = read.data?.statemgrs ?? undefined;
  checkNames(path, stores ?? []);
  return { stores, links: read.data?.['extra.links'] ?? [] };
}

function checkNames(path: string, stores: readonly StateStoreEntry[]): void {
  const names = stores.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice === undefined) return;
  throw userError('INVALID_CONFIG', `${path}: two of the statemgrs have the name '${twice}'`);
}
