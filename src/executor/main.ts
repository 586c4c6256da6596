import { runProcess } from '../base/process-main.ts';
import { systemEnvironment } from '../process-start/system-environment.ts';
import { systemProcessTable } from '../supervision/system-process-table.ts';
import { executorMain } from './executor-main.ts';

runProcess({ name: 'heron-executor' }, (context) =>
  executorMain(context, systemEnvironment(systemProcessTable)),
);
