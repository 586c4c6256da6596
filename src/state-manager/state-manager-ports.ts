import type { Clock } from '../base/clock.ts';
import type { Files } from '../base/files.ts';
import type { Logger } from '../base/logger.ts';
import type { ProcessIdentities } from '../base/process-identities.ts';
import type { Random } from '../base/random.ts';
import type { Dialer } from '../net/network.ts';

/** What a state manager needs of the process that it is in. */
export interface StateManagerPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly files: Files;
  readonly processes: ProcessIdentities;
  readonly network: Dialer;
  /** The environment, which may hold credentials (`HERON_STATE_DIGEST`). */
  readonly variables: NodeJS.ProcessEnv;
}

export interface StateManagerChoice {
  /**
   * True: a lost session ends the manager when it held ephemeral nodes, so that nothing is written
   * in the name of a lock that is gone. False: their owners make them again.
   */
  readonly endsWithLostNodes?: boolean;
}
