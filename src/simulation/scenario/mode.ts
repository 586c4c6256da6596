/** What is promised for tuples. The same seed makes another scenario in each mode. */
export type Mode = 'at-most-once' | 'at-least-once';
