/** A topology that has completed is being taken down by its scheduler, which has this long. */
export const TAKE_DOWN_LIMIT_MS = 60_000;
