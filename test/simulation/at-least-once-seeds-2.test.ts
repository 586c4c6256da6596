import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(41, 40, { mode: 'at-least-once' });
