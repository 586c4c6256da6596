import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(1, 40, { mode: 'at-least-once' });
