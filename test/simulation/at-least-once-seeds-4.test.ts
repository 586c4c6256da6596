import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(121, 40, 'at-least-once');
