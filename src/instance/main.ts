/*
  An instance: the process of one task. The main thread runs the user's code, a worker thread the
  gateway; thread-channel.ts tells what they say to each other.
*/

import { runProcess } from '../base/process-main.ts';
import { instanceMain, instanceOptions } from './instance-main.ts';
import { systemInstanceEnvironment } from './system-instance-environment.ts';

runProcess(instanceOptions, async (context) => {
  await instanceMain(context, systemInstanceEnvironment());
});
