import { runProcess } from '../base/process-main.ts';
import { systemEnvironment } from '../process-start/system-environment.ts';
import { NAME, metricsManagerMain } from './metrics-manager-main.ts';

runProcess({ name: NAME }, (context) => metricsManagerMain(context, systemEnvironment()));
