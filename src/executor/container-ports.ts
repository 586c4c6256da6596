import type { Network } from '../net/network.ts';
import type { ContainerPorts } from './wanted-processes.ts';

/** All but the executor's own, which it listens on itself. */
export type ChosenPorts = Omit<ContainerPorts, 'shell'>;

const PORTS = 7;

/**
 * Free ports of a host, found by listening on port 0. They are only likely to be free when the
 * processes listen on them a moment later: one that finds its port taken says so by its exit code,
 * and the container moves to other ports.
 */
export async function chooseContainerPorts(network: Network, host: string): Promise<ChosenPorts> {
  // All are open at the same time, or the same port could be given twice.
  const listeners = await Promise.all(
    Array.from({ length: PORTS }, () =>
      network.listen({ host, port: 0 }, (stream) => {
        stream.destroy();
      }),
    ),
  );
  const found = listeners.map(({ address }) => address.port);
  for (const listener of listeners) listener.close();
  const [server = 0, controller = 0, stats = 0, metricsManager = 0, metricsPages = 0] = found;
  const [metricsCacheServer = 0, metricsCacheStats = 0] = found.slice(5);
  return {
    server,
    controller,
    stats,
    metricsManager,
    metricsPages,
    metricsCacheServer,
    metricsCacheStats,
  };
}
