import type { InstanceAddress } from '../model/physical-plan.ts';
import type { PacketConnection } from '../net/packet-connection.ts';
import { sendInstanceCredit } from './data-packet.ts';
import type { SourcePacing } from './local-source.ts';

/** One registered connection of an instance, from its registration to its end. */
export class InstanceSession implements SourcePacing {
  readonly address: InstanceAddress;
  readonly connection: PacketConnection;
  /** A foreign instance speaks no credits: reading from its socket is all that can be stopped. */
  readonly isForeign: boolean;
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
    if (!this.isForeign || isBlocked === this.#isPaused) return;
    this.#isPaused = isBlocked;
    if (isBlocked) this.connection.pauseReading();
    else this.connection.resumeReading();
  }
}
