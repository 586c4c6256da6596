import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(31, 30, { mode: 'at-least-once', hasChanges: true });
