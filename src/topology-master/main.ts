import { runProcess } from '../base/process-main.ts';
import { systemEnvironment } from '../process-start/system-environment.ts';
import { NAME, topologyMasterMain } from './topology-master-main.ts';

runProcess({ name: NAME }, (context) => topologyMasterMain(context, systemEnvironment()));
