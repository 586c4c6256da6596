/*
  Kinds of frames without payload in an instance's data rings; they keep their place in order.

  Under at least once each connection with the stream manager is a generation, since acks and data
  that were under way on a lost one may be lost, and nobody can tell which (ruling R14):

    data in   … sets of the old connection, CONNECTION_MARKER, sets of the new one …
    data out  … acks of tuples of the old one, CONNECTION_MARKER, acks of tuples of the new one …

  G1. The gateway writes the marker behind what the old connection brought, when it has a new one;
      not for the first connection of a process.
  G2. A spout that meets the marker fails all that is pending. A bolt drops the acks that it has not
      sent, and answers with a marker.
  G3. From the loss of a connection until it meets the answer to its last marker, the gateway throws
      away acks and fails that come out of the ring. Data goes on.
  G4. Acks and fails of tuples of an older generation are not sent: these trees time out. Where
      there are no time-outs they have failed with the loss (ack-path.ts, K5).
*/

/** A set that is too large for the ring comes by message (ruling R15). */
export const LARGE_SET_MARKER = 1;
/** Task → gateway: the task has ended; nothing follows. */
export const END_OF_INPUT_MARKER = 2;
/** In both directions: what follows belongs to the newest connection. */
export const CONNECTION_MARKER = 3;
