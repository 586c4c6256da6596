import type { Socket } from 'node:net';

/**
 * Ends a connection as a process that is killed does. One that is just ending cannot be reset:
 * Node's handle of it would never close, and this process would spin at its own end.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
