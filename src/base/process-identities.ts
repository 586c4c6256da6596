import { identityOf, isAlive, ownIdentity, type ProcessIdentity } from './process-identity.ts';

/** Who lives on this machine: the part of the process table that files and locks need. */
export interface ProcessIdentities {
  /** The identity of the process that asks. */
  own(): ProcessIdentity;
  /** The identity of a process that is alive now, or undefined when there is none with this pid. */
  identityOf(pid: number): ProcessIdentity | undefined;
  /** False as soon as no thread of the process can act any more, reaped by its parent or not. */
  isAlive(identity: ProcessIdentity): boolean;
}

/** The processes of the real machine. */
export const systemProcessIdentities: ProcessIdentities = {
  own: ownIdentity,
  identityOf,
  isAlive,
};
