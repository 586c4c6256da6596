import { assert } from '../base/assert.ts';

/*
  Who of several supervised processes is silent for too long (O14). Pure but for what it remembers:
  the signs of life at hand and the time go in, the names of the silent come out.

  W1. One that begins its life has START_FACTOR times the limit for its first beat: what starts
      together with many others on a busy machine waits its turn.
  W2. A look that comes late shows that the one who looks was away: paused, suspended, or too busy
      to hear. Everyone's time begins anew (O21).
  W3. When more than half of several are silent at once, it is more likely that nobody hears them:
      their time begins anew, once. If they are as silent afterwards, they are hung.
  W4. What cannot be heard at the moment is not judged, and its time begins anew when it can.
  W5. One that was named before its first beat has twice as long for it in its next life, and so on:
      where a machine is too busy for a start in the usual time, one that is killed and begins again
      each time would never come up, and would keep the machine busy. A beat sets that right.
*/

/** What is known of one process at one moment. */
export interface Sign {
  /** Differs for each incarnation. */
  readonly life: number;
  /** Changes with each beat. */
  readonly beat: number;
  /** It has beaten in this life before this watch saw it. */
  readonly hasBegun?: boolean;
}

/** Undefined for one that is not running, or cannot be heard (W4). */
export type Signs = ReadonlyMap<string, Sign | undefined>;

export interface Silence {
  readonly name: string;
  /** Whole milliseconds. */
  readonly silentMs: number;
}

const START_FACTOR = 4;
/** A quarter of an hour where the limit is the usual half of a minute. */
const START_FACTOR_MAX = 32;
const LOOKS_PER_LIMIT = 10;
const LOOK_PERIOD_MAX_MS = 5_000;
/** A look is late when so much of the limit has passed since the last one. */
const LATE_SHARE = 1 / 2;
/** Doubt takes several: one that is silent beside another that is heard is hung. */
const DOUBTED_MIN = 2;

interface Heard {
  readonly life: number;
  readonly beat: number;
  /** Its last beat, or its beginning. */
  readonly heardMs: number;
  /** From where its silence counts: not before `heardMs`. */
  readonly sinceMs: number;
  readonly hasBegun: boolean;
  /** How many times the limit it has for its first beat (W5). */
  readonly startFactor: number;
  /** It has been named in this life. */
  readonly wasNamed: boolean;
}

export class SilenceWatch {
  /** How often to look. */
  readonly periodMs: number;
  readonly #limitMs: number;
  readonly #heard = new Map<string, Heard>();
  #lastLookMs: number | undefined;
  /** When it was doubted that anybody can be heard (W3); undefined while it is not. */
  #doubtedMs: number | undefined;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.periodMs = Math.min(LOOK_PERIOD_MAX_MS, Math.ceil(limitMs / LOOKS_PER_LIMIT));
  }

  /**
   * The silent ones, of which each is named at every look until its life has ended.
   *
   * @param nowMs Monotonic; of the look that gave the signs, so never less than at the last one.
   */
  look(signs: Signs, nowMs: number): readonly Silence[] {
    const sinceLastMs = nowMs - (this.#lastLookMs ?? nowMs);
    assert(sinceLastMs >= 0, 'looks come in the order of their time');
    this.#lastLookMs = nowMs;
    this.#hear(signs, nowMs);
    if (sinceLastMs > LATE_SHARE * this.#limitMs) this.#beginAnew(nowMs); // W2
    const silent = [...this.#heard].filter(([, heard]) => nowMs - heard.sinceMs >= this.#of(heard));
    const isDoubtful = silent.length >= DOUBTED_MIN && silent.length * 2 > this.#heard.size;
    if (this.#doubtedMs !== undefined && this.#isHeardAgainSince(this.#doubtedMs)) {
      this.#doubtedMs = undefined;
    }
    if (isDoubtful && this.#doubtedMs === undefined) {
      this.#doubtedMs = nowMs; // W3
      this.#beginAnew(nowMs);
      return [];
    }
    for (const [name, heard] of silent) this.#heard.set(name, { ...heard, wasNamed: true });
    return silent.map(([name, { sinceMs }]) => ({ name, silentMs: Math.floor(nowMs - sinceMs) }));
  }

  #of({ hasBegun, startFactor }: Heard): number {
    return hasBegun ? this.#limitMs : startFactor * this.#limitMs;
  }

  #hear(signs: Signs, nowMs: number): void {
    for (const [name, heard] of this.#heard) {
      if (signs.get(name) !== undefined) continue;
      // Never removed and put back: the loop would meet it again, without end.
      if (signs.has(name))
        this.#heard.set(name, { ...heard, sinceMs: nowMs }); // W4
      else this.#heard.delete(name);
    }
    for (const [name, sign] of signs) {
      if (sign === undefined) continue;
      const { life, beat, hasBegun = false } = sign;
      const last = this.#heard.get(name);
      if (last === undefined || last.life !== life) {
        const startFactor = startFactorAfter(last);
        this.#heard.set(name, { ...begun(life, beat, nowMs), hasBegun, startFactor });
      } else if (last.beat !== beat) {
        this.#heard.set(name, { ...begun(life, beat, nowMs), hasBegun: true });
      }
    }
  }

  #beginAnew(nowMs: number): void {
    for (const [name, heard] of this.#heard) this.#heard.set(name, { ...heard, sinceMs: nowMs });
  }

  #isHeardAgainSince(doubtedMs: number): boolean {
    const again = [...this.#heard.values()].filter(({ heardMs }) => heardMs > doubtedMs);
    return again.length * 2 >= this.#heard.size;
  }
}

function begun(life: number, beat: number, nowMs: number): Omit<Heard, 'hasBegun'> {
  const heardNow = { heardMs: nowMs, sinceMs: nowMs };
  return { life, beat, ...heardNow, startFactor: START_FACTOR, wasNamed: false };
}

/** W5 */
function startFactorAfter(last: Heard | undefined): number {
  if (last === undefined || last.hasBegun) return START_FACTOR;
  const factor = last.wasNamed ? 2 * last.startFactor : last.startFactor;
  return Math.min(factor, START_FACTOR_MAX);
}
