import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(1, 40, 'at-least-once');
