import { DATA_DEFECTS } from './data-defects.ts';
import { testDefects } from './test-defects.ts';

testDefects('defects on the way of a tuple are found', DATA_DEFECTS);
