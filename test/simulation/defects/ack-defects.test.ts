import { ACK_DEFECTS } from './ack-defects.ts';
import { testDefects } from './test-defects.ts';

testDefects('defects of acks and back pressure are found', ACK_DEFECTS);
