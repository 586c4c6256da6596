import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(31, 30, { hasChanges: true });
