import { CHANGE_DEFECTS } from './change-defects.ts';
import { testDefects } from './test-defects.ts';

testDefects('defects of changes while a topology runs are found', CHANGE_DEFECTS);
