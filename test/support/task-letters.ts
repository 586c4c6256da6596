import type { DeadLetter } from '../../src/model/dead-letter.ts';

/** A dead letter of task 1 of `source`: the word `lost`. */
export function aLetter(id: string, change: Partial<DeadLetter> = {}): DeadLetter {
  return {
    id,
    atMs: 1_700_000_000_000,
    topology: 'words',
    component: 'source',
    task: 1,
    stream: 'default',
    fields: ['word'],
    values: ['pGxvc3Q='],
    serialized: false,
    messageId: undefined,
    position: '7',
    attempts: 6,
    reason: {
      kind: 'explicit',
      component: undefined,
      task: undefined,
      message: undefined,
      stack: undefined,
    },
    ...change,
  };
}
