import { environmentError } from '../base/errors.ts';
import { type Epoch, epoch } from '../base/ids.ts';

/*
  The counter behind `nextEpoch`, kept in a node of its own: the last number given, as decimal text.
*/

/**
 * The number after the one in the counter; 1 is the first.
 *
 * @throws STATE_CORRUPTED: starting again from 1 would let a stale process pass for a new one.
 */
export function epochAfter(counter: Uint8Array | undefined): Epoch {
  if (counter === undefined) return epoch(1);
  const text = Buffer.from(counter).toString('latin1');
  const last = /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined;
  if (last === undefined) {
    const shown = JSON.stringify(text.slice(0, 40));
    throw environmentError('STATE_CORRUPTED', `an epoch counter holds ${shown}, not a number`);
  }
  return epoch(last + 1);
}

export function encodeEpoch(value: Epoch): Uint8Array {
  return new TextEncoder().encode(String(value));
}
