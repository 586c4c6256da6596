/** Where every random choice of the engine comes from. */
export interface Random {
  /** A whole number from 0 to 2^32 - 1. */
  uint32(): number;
  /** A whole number from 0 to `limit` - 1; `limit` is from 1 to 2^32. */
  below(limit: number): number;
  /** `count` random bytes. */
  bytes(count: number): Uint8Array;
}

const POOL_BYTES = 4096;

/** Loaded with the first use: Node's cryptography is large, and not every process needs chance. */
function randomBytes(count: number): Buffer {
  return process.getBuiltinModule('node:crypto').randomBytes(count);
}

/** The operating system's randomness, fetched 4 KiB at a time. */
export function createSystemRandom(): Random {
  let pool: Buffer = Buffer.alloc(0);
  let at = POOL_BYTES;
  const uint32 = (): number => {
    if (at === POOL_BYTES) {
      pool = randomBytes(POOL_BYTES);
      at = 0;
    }
    const value = pool.readUInt32LE(at);
    at += 4;
    return value;
  };
  return {
    uint32,
    below: (limit) => Math.floor((uint32() / 0x1_0000_0000) * limit),
    bytes: (count) => new Uint8Array(randomBytes(count)),
  };
}

/**
 * A repeatable sequence for tests and simulation: mulberry32, which passes the usual small-state
 * batteries and needs one 32-bit word of state.
 */
export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  const uint32 = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
  return {
    uint32,
    below: (limit) => Math.floor((uint32() / 0x1_0000_0000) * limit),
    bytes: (count) => Uint8Array.from({ length: count }, () => uint32() & 0xff),
  };
}

/** `count` random bytes as lower-case hexadecimal text. */
export function randomHex(random: Random, count: number): string {
  return Buffer.from(random.bytes(count)).toString('hex');
}
