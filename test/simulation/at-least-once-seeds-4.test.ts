import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(121, 40, { mode: 'at-least-once' });
