import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(1, 30, { mode: 'at-least-once', hasChanges: true });
