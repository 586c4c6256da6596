import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import type { LinkTemplate } from './extra-links.ts';
import type { MetricsSource } from './metrics/metrics-source.ts';
import type { PageFigures } from './pages/page-figures.ts';
import type { SnapshotSource } from './state/snapshot.ts';

/** What routes are made of. */
export interface TrackerParts {
  readonly snapshots: SnapshotSource;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsSource;
  readonly figures: PageFigures;
  /** Links for people that go with each topology. */
  readonly links: readonly LinkTemplate[];
  /**
   * Lets a request pass that does something to a topology although it is a GET.
   *
   * @throws HTTPException 401 or 403 when it must not.
   */
  readonly admit: (request: Request) => void;
}
