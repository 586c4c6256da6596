import { pinSeeds } from '../support/pinned-seeds.ts';

pinSeeds(81, 40, { mode: 'at-least-once' });
