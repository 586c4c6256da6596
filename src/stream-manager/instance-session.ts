import type { InstanceAddress } from '../model/physical-plan.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import { sendInstanceCredit, sendInstanceHold } from './data-packet.ts';
import type { SourcePacing } from './local-source.ts';
import type { PressureCause } from './pressure-signal.ts';

/**
 * One registered connection of an instance, from its registration to its end.
 *
 * A foreign instance speaks neither credits nor back pressure: reading from its socket is all that
 * can be stopped. There are two reasons for that, a batch of it that waits and back pressure; it is
 * read again when neither holds.
 */
export class InstanceSession implements SourcePacing {
  readonly address: InstanceAddress;
  readonly connection: PacketConnection;
  readonly isForeign: boolean;
  #isBlocked = false;
  #isHeld = false;
  #isPaused = false;

  constructor(address: InstanceAddress, connection: PacketConnection, isForeign: boolean) {
    this.address = address;
    this.connection = connection;
    this.isForeign = isForeign;
  }

  release(bytes: number): void {
    if (!this.isForeign) sendInstanceCredit(this.connection, this.address.task, bytes);
  }

  setBlocked(isBlocked: boolean): void {
    this.#isBlocked = isBlocked;
    if (this.isForeign) this.#pace();
  }

  /** For spouts: emit nothing new because of `cause`; undefined: go on. */
  setHeld(cause: PressureCause | undefined): void {
    this.#isHeld = cause !== undefined;
    if (this.isForeign) this.#pace();
    else sendInstanceHold(this.connection, this.address.task, cause);
  }

  #pace(): void {
    const isPaused = this.#isBlocked || this.#isHeld;
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (isPaused) this.connection.pauseReading();
    else this.connection.resumeReading();
  }
}
