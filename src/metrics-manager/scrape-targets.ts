import { join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import type { Files } from '../base/files.ts';
import type { Logger } from '../base/logger.ts';
import { type Address, addressText } from '../net/network.ts';

/*
  Tells Prometheus where this container is scraped: a file in the form of its file-based service
  discovery, beside the logs, so that nobody has to know ports that were found free.
*/

export interface ScrapeTargetOptions {
  readonly files: Files;
  readonly logger: Logger;
  readonly logDirectory: string;
  /** `metricsmgr-<container>`. */
  readonly id: string;
}

export function writeScrapeTarget(
  { files, logger, logDirectory, id }: ScrapeTargetOptions,
  address: Address,
): void {
  const text = JSON.stringify([{ targets: [addressText(address)] }]);
  const file = join(logDirectory, `${id}-targets.json`);
  try {
    // By a rename: Prometheus may read it at any time.
    files.writeNow(`${file}.new`, Buffer.from(text), { mode: 0o600 });
    files.renameNow(`${file}.new`, file);
  } catch (error) {
    logger.warn(`the scrape target is told nowhere: ${messageOf(error)}`, { error });
  }
}

export function removeScrapeTarget({ files, logDirectory, id }: ScrapeTargetOptions): void {
  try {
    files.removeNow(join(logDirectory, `${id}-targets.json`));
  } catch {
    // It names a port where nobody answers, and the next metrics manager writes it anew.
  }
}
