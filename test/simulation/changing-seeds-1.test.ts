import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(1, 30, { hasChanges: true });
