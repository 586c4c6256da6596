import { runProcess } from '../base/process-main.ts';
import { systemEnvironment } from '../process-start/system-environment.ts';
import { metricsCacheMain, NAME } from './metrics-cache-main.ts';

runProcess({ name: NAME }, (context) => metricsCacheMain(context, systemEnvironment()));
