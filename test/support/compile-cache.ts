import { join } from 'node:path';

/** Shared by tests that start many processes: without it each one compiles the engine afresh. */
export const COMPILE_CACHE = join(import.meta.dirname, '../../.cache/compile');
