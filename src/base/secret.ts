import { timingSafeEqual } from 'node:crypto';

/** Compares without telling by its duration how much of the secret was right. */
export function isSameSecret(given: string | undefined, secret: string): boolean {
  if (given === undefined) return false;
  const givenBytes = Buffer.from(given);
  const secretBytes = Buffer.from(secret);
  return givenBytes.length === secretBytes.length && timingSafeEqual(givenBytes, secretBytes);
}
