import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(151, 50);
