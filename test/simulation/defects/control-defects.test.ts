import { CONTROL_DEFECTS } from './control-defects.ts';
import { testDefects } from './test-defects.ts';

testDefects('defects of plans and heartbeats are found', CONTROL_DEFECTS);
