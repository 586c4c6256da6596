import { systemClock } from '../../base/clock.ts';
import { openLogger } from '../../base/log-file.ts';
import { createSystemRandom } from '../../base/random.ts';
import { systemFiles } from '../../base/system-files.ts';
import { answerParent } from '../../inspection/answer-parent.ts';
import { mainThreadStack } from '../../inspection/main-thread-stack.ts';
import { startBeating } from '../../net/beat-pipe.ts';
import { parentInput, watchParent } from '../../net/parent-pipe.ts';
import { tcpNetwork } from '../../net/tcp-network.ts';
import { systemResourceUse } from '../../process-start/system-resource-use.ts';
import { atomicsDoorbells } from '../../ring/atomics-doorbell.ts';
import type { GatewayEnvironment } from './gateway-environment.ts';

/**
 * The real world as a gateway's thread sees it. Not made of the process's: a thread pays for every
 * module anew, and needs few of them.
 */
export function systemGatewayEnvironment(): GatewayEnvironment {
  return {
    clock: systemClock,
    random: createSystemRandom(),
    network: tcpNetwork,
    files: systemFiles,
    openLog: (options) => openLogger({ ...options, clock: systemClock }),
    resourceUse: systemResourceUse,
    startBeating,
    doorbells: atomicsDoorbells,
    taskStack: () => mainThreadStack(systemClock),
    kill: () => process.kill(process.pid, 'SIGKILL'),
    answerParent: (task) => {
      const input = parentInput();
      if (input !== undefined) answerParent(input, { ...task, thread: 'main' });
    },
    watchParent,
  };
}
