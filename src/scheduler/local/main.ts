import { runProcess } from '../../base/process-main.ts';
import { systemEnvironment } from '../../process-start/system-environment.ts';
import { systemProcessTable } from '../../supervision/system-process-table.ts';
import { setUpContainer } from './container-setup.ts';
import { schedulerMain } from './scheduler-main.ts';

runProcess({ name: 'heron-scheduler' }, (context) =>
  schedulerMain(context, systemEnvironment(systemProcessTable), { setUpContainer }),
);
