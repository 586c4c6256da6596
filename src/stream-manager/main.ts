import { runProcess } from '../base/process-main.ts';
import { systemEnvironment } from '../process-start/system-environment.ts';
import { NAME, streamManagerMain } from './stream-manager-main.ts';

runProcess({ name: NAME }, (context) => streamManagerMain(context, systemEnvironment()));
