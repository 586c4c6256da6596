import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(51, 50);
