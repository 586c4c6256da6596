import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(81, 40, 'at-least-once');
