import type { Clock, Timer } from '../base/clock.ts';
import { environmentError } from '../base/errors.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import { encodePacket, NO_REQUEST_ID } from '../wire/frame.ts';
import { LinkBeat } from '../wire/messages.ts';
import { SilenceWatch } from './silence-watch.ts';

/*
  Links on which both ends say now and then that they live. A way that swallows its bytes, a pulled
  cable or a box that has forgotten the connection, looks like a peer that has nothing to say, and
  the kernel gives up sending after a quarter of an hour. Node has no way to shorten that: of TCP's
  own means it offers keep-alive, which rests while sent bytes wait for their acknowledgement, and
  not TCP_USER_TIMEOUT.

    connection ── chunks received ──► SilenceWatch ── silent ──► abort, with the reason
        ▲──────── a beat now and then

  K1. Whatever comes is a sign of life, a part of a packet as well: a peer that is slow, or to which
      much is under way, is not silent. Nothing is done for a packet or a tuple.
  K2. Only time counts in which this process ran itself, and one in doubt hears everyone anew:
      silence-watch.ts, W2 and W3.
  K3. While bytes wait to be sent no beat is added to them: if they move they are beats, and if they
      do not, neither would it.
  K4. A silent link is aborted, not closed: what still waits for it would only be held longer.
*/

/** Of the looks for silence; so there are five beats in the shortest silence that counts. */
const LOOKS_PER_BEAT = 2;

const BEAT = encodePacket(LinkBeat.typeName, NO_REQUEST_ID, LinkBeat.encode(LinkBeat.create({})));

interface Link {
  /** Tells it from others of the same peer. */
  readonly number: number;
  readonly peer: string;
}

/** All links of one process that are watched; they leave by themselves when they end. */
export class LinkWatch {
  readonly #clock: Clock;
  readonly #silence: SilenceWatch;
  readonly #links = new Map<PacketConnection, Link>();
  #timer: Timer | undefined;
  #linksSeen = 0;
  #looks = 0;

  /** `silenceMs`: the silence that ends a link. */
  constructor(clock: Clock, silenceMs: number) {
    this.#clock = clock;
    this.#silence = new SilenceWatch(silenceMs);
  }

  /**
   * Beats on this connection and watches it, from now to its end. Its peer has promised to beat,
   * and expects beats. Idempotent.
   *
   * @param peer For people: `stmgr-2`.
   */
  add(connection: PacketConnection, peer: string): void {
    if (!connection.isOpen || this.#links.has(connection)) return;
    this.#linksSeen += 1;
    this.#links.set(connection, { number: this.#linksSeen, peer });
    connection.onClose(() => this.#forget(connection));
    this.#timer ??= this.#clock.every(this.#silence.periodMs, () => this.#look());
  }

  #forget(connection: PacketConnection): void {
    this.#links.delete(connection);
    if (this.#links.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    this.#looks += 1;
    if (this.#looks % LOOKS_PER_BEAT === 0) this.#beat();
    const signs = new Map(
      Array.from(this.#links, ([{ chunksReceived }, { number }]) => [
        String(number),
        { life: number, beat: chunksReceived, hasBegun: true },
      ]),
    );
    const silent = this.#silence.look(signs, this.#clock.now());
    if (silent.length === 0) return;
    const silences = new Map(silent.map(({ name, silentMs }) => [name, silentMs]));
    for (const [connection, { number, peer }] of this.#links) {
      const silentMs = silences.get(String(number));
      if (silentMs === undefined) continue;
      const message = `${peer} has been silent for ${silentMs} ms`;
      connection.abort(environmentError('CONNECTION_LOST', message, { retryable: true })); // K4
    }
  }

  #beat(): void {
    for (const connection of this.#links.keys()) {
      if (connection.queuedBytes === 0) connection.sendShared(BEAT); // K3
    }
  }
}
