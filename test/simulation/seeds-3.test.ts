import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(101, 50);
