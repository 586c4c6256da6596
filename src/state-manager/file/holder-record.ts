import { createHash } from 'node:crypto';
import type { ProcessIdentities } from '../../base/process-identities.ts';
import { type ProcessIdentity, parseIdentity } from '../../base/process-identity.ts';

/*
  What a lock or the owner record of an ephemeral node contains: which state manager of which
  process holds it. JSON: { process: { bootId, pid, startTicks }, manager }.

  H1. A record is on disk whole before anyone can find it, so one that cannot be read was damaged by
      a crash of the whole machine, and its holder went with it: it counts as dead.
  H2. Two holders never write equal bytes: `manager` is random. So bytes tell holders apart.
*/

export interface Holder {
  readonly process: ProcessIdentity;
  readonly manager: string;
}

export function encodeHolder(holder: Holder): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(holder));
}

/** Undefined for damaged bytes. */
export function parseHolder(record: Uint8Array): Holder | undefined {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(record).toString('utf8'));
  } catch {
    return undefined; // H1 covers what is not JSON.
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const process = parseIdentity(fields['process']);
  const manager = fields['manager'];
  if (process === undefined || typeof manager !== 'string') return undefined;
  return { process, manager };
}

export function isHolderAlive(record: Uint8Array, processes: ProcessIdentities): boolean {
  const holder = parseHolder(record);
  return holder !== undefined && processes.isAlive(holder.process);
}

/** A short name for one holder, from its record's bytes, damaged ones too. */
export function fingerprintOf(record: Uint8Array): string {
  return createHash('sha256').update(record).digest('hex').slice(0, 16);
}

/** The holder as people see it in messages. */
export function describeHolder(record: Uint8Array): string {
  const holder = parseHolder(record);
  return holder === undefined ? 'nobody that can be named' : `process ${holder.process.pid}`;
}
