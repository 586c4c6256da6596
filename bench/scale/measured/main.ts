/*
  A process of the engine that tells what it uses. Its arguments are `topology-master` or
  `stream-manager` and the flags of that process. Its wall clock can be put forward by minutes.
*/

import { systemClock } from '../../../src/base/clock.ts';
import { runProcess } from '../../../src/base/process-main.ts';
import { systemEnvironment } from '../../../src/process-start/system-environment.ts';
import { streamManagerMain } from '../../../src/stream-manager/stream-manager-main.ts';
import { topologyMasterMain } from '../../../src/topology-master/topology-master-main.ts';
import type { Answer, Question } from '../measured-process.ts';

const MINUTE_MS = 60_000;
const MAINS = { 'topology-master': topologyMasterMain, 'stream-manager': streamManagerMain };

let aheadMs = 0;
const [name = '', ...args] = process.argv.slice(2);
const main = MAINS[name as keyof typeof MAINS];

runProcess({ name: 'heron-measured' }, async (context) => {
  const started = await main(context, {
    ...systemEnvironment(),
    arguments: args,
    clock: { ...systemClock, wallNow: () => systemClock.wallNow() + aheadMs },
  });
  process.on('message', (question: Question) => process.send?.(answerTo(question)));
  process.send?.({ ports: started.ports } satisfies Answer);
});

function answerTo(question: Question): Answer {
  switch (question) {
    case 'cpu': {
      const { user, system } = process.cpuUsage();
      return { cpuMs: (user + system) / 1000 };
    }
    case 'memory': {
      globalThis.gc?.();
      const { heapUsed, external, rss } = process.memoryUsage();
      const peakBytes = process.resourceUsage().maxRSS * 1024;
      return { heapBytes: heapUsed + external, residentBytes: rss, peakBytes };
    }
    case 'minute':
      aheadMs += MINUTE_MS;
      return {};
  }
}
