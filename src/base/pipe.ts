import { fstatSync } from 'node:fs';

/** True for a file descriptor with another end, which somebody may close. */
export function isPipe(descriptor: number): boolean {
  try {
    const status = fstatSync(descriptor);
    return status.isFIFO() || status.isSocket();
  } catch {
    return false; // A closed descriptor has no other end.
  }
}
