/* The thread that ../stack-from-outside.ts makes: looks at the main one, tells, and ends. */

import { parentPort } from 'node:worker_threads';
import { systemClock } from '../../base/clock.ts';
import { mainThreadStack } from '../main-thread-stack.ts';

parentPort?.postMessage(await mainThreadStack(systemClock));
