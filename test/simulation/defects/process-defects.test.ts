import { PROCESS_DEFECTS } from './process-defects.ts';
import { testDefects } from './test-defects.ts';

testDefects('defects of processes and files are found', PROCESS_DEFECTS);
