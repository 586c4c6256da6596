/*
  The hash by which Heron spreads fields-grouped tuples: std::hash<std::string> of libstdc++ on
  Linux, a MurmurHash64A, and its remainder by 633910111. Tuples of foreign instances are routed by
  it, so that they go where Heron would send them.

      hash = seed ^ length * m
      each 8 bytes, lowest first: hash = (hash ^ shiftMix(block * m) * m) * m
      the 1 to 7 bytes left, if any: hash = (hash ^ block) * m
      hash = shiftMix(shiftMix(hash) * m)          shiftMix(x) = x ^ (x >>> 47)

  All of it modulo 2^64. The numbers are kept as two int32 halves: no bigint is made for a tuple.
*/

const SEED = 0xc70f_6907;
const M_HIGH = 0xc6a4_a793;
const M_LOW = 0x5bd1_e995;

const MODULUS = 633_910_111;
/** 2^32 modulo MODULUS. */
const HIGH_UNIT = 2 ** 32 % MODULUS;

/** The addend of Heron's rule for the bytes of one value, from 0 to 633910110. */
export function hashModulo(bytes: Uint8Array, start: number, end: number): number {
  hash.of(bytes, start, end);
  return hash.modulo;
}

/** The 64-bit hash of a range of bytes; used again for each. */
export class LibstdcppHash {
  high = 0;
  low = 0;

  of(bytes: Uint8Array, start: number, end: number): void {
    this.high = 0;
    this.low = end - start;
    this.#multiply();
    this.low ^= SEED;
    let at = start;
    for (; end - at >= 8; at += 8) this.#addBlock(half(bytes, at + 4, 4), half(bytes, at, 4));
    const rest = end - at;
    if (rest > 0) {
      this.low ^= half(bytes, at, Math.min(rest, 4));
      this.high ^= half(bytes, at + 4, Math.max(rest - 4, 0));
      this.#multiply();
    }
    this.#shiftMix();
    this.#multiply();
    this.#shiftMix();
  }

  /** The hash modulo 633910111. */
  get modulo(): number {
    // high * HIGH_UNIT may exceed 2^53, so the product is taken in two parts of 16 bits.
    const high = this.high >>> 0;
    const upper = ((high >>> 16) * HIGH_UNIT) % MODULUS;
    return (upper * 0x1_0000 + (high & 0xffff) * HIGH_UNIT + (this.low >>> 0)) % MODULUS;
  }

  #addBlock(blockHigh: number, blockLow: number): void {
    const { high, low } = this;
    this.high = blockHigh;
    this.low = blockLow;
    this.#multiply();
    this.#shiftMix();
    this.#multiply();
    this.high ^= high;
    this.low ^= low;
    this.#multiply();
  }

  #shiftMix(): void {
    this.low ^= this.high >>> 15;
  }

  /** Times M, modulo 2^64. */
  #multiply(): void {
    const { high, low } = this;
    this.high = (productHigh(low, M_LOW) + Math.imul(high, M_LOW) + Math.imul(low, M_HIGH)) | 0;
    this.low = Math.imul(low, M_LOW);
  }
}

const hash = new LibstdcppHash();

/**
 * The upper 32 bits of the product of two unsigned 32-bit numbers, from four products of 16 bits,
 * each of which fits in 32 bits.
 */
function productHigh(left: number, right: number): number {
  const leftLow = left & 0xffff;
  const leftHigh = left >>> 16;
  const rightLow = right & 0xffff;
  const rightHigh = right >>> 16;
  const lowLow = Math.imul(leftLow, rightLow);
  const lowHigh = Math.imul(leftLow, rightHigh);
  const highLow = Math.imul(leftHigh, rightLow);
  const carried = (lowLow >>> 16) + (lowHigh & 0xffff) + (highLow & 0xffff);
  const high = Math.imul(leftHigh, rightHigh) + (lowHigh >>> 16) + (highLow >>> 16);
  return (high + (carried >>> 16)) | 0;
}

/** Up to four bytes, lowest first. */
function half(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let index = count - 1; index >= 0; index -= 1) {
    value = (value << 8) | (bytes[at + index] as number);
  }
  return value;
}
