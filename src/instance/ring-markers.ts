/* Kinds of frames without payload in an instance's data rings; they keep their place in order. */

/** A set that is too large for the ring comes by message (ruling R15). */
export const LARGE_SET_MARKER = 1;
/** Task → gateway: the task has ended; nothing follows. */
export const END_OF_INPUT_MARKER = 2;
