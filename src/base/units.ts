/** Heron's megabytes, in settings and resources, are all of this size. */
export const BYTES_PER_MB: number = 1024 * 1024;
