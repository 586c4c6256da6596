import { strict as assert } from 'node:assert';
import { type ContainerId, containerId, streamManagerIdOf } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { ENGINE_VERSION } from '../../src/base/version.ts';
import { MetricsRegistry } from '../../src/metrics/metrics-registry.ts';
import type { InstanceAddress } from '../../src/model/physical-plan.ts';
import { Settings } from '../../src/model/settings.ts';
import type { Network } from '../../src/net/network.ts';
import { PacketServer } from '../../src/net/server.ts';
import { Kernel } from '../../src/simulation/kernel/kernel.ts';
import { simulatedListenHttp } from '../../src/simulation/kernel/simulated-http.ts';
import { SimulatedNetwork } from '../../src/simulation/kernel/simulated-network.ts';
import type { SimulatedThread } from '../../src/simulation/kernel/simulated-thread.ts';
import {
  MemoryStateManager,
  MemoryStateTree,
} from '../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../src/state-manager/paths.ts';
import { MasterClient } from '../../src/stream-manager/master-client.ts';
import { PeerLinks } from '../../src/stream-manager/peer-links.ts';
import { LinkWatch } from '../../src/supervision/link-watch.ts';
import { expectedInstances } from '../../src/topology-master/placement.ts';
import { TopologyMaster } from '../../src/topology-master/topology-master.ts';
import { encodePackingPlan } from '../../src/wire/packing-plan.ts';
import { type PhysicalPlanMessage, physicalPlanFromMessage } from '../../src/wire/physical-plan.ts';
import { encodeTopology } from '../../src/wire/topology.ts';
import { TOKEN } from './measured-process.ts';
import type { Measurements } from './measurement.ts';
import { addressOf, type SizedTopology } from './sized-topology.ts';

/*
  What stream managers talk about with the master and with each other, in simulated time: the real
  topology master, and of each stream manager the real master client and, if asked for, the real
  peer links. Every container has a host of its own; there are no instances and no files.
*/

const LIMITS = { simulatedMsMax: 600_000, eventsMax: Number.POSITIVE_INFINITY };
const PORT = 20_000;
const PACKET_BYTES_MAX = 64 * 1024 * 1024;

interface Parts {
  readonly thread: SimulatedThread;
  readonly network: Network;
  readonly stateManager: MemoryStateManager;
}

export class SimulatedControlPlane {
  readonly #sized: SizedTopology;
  readonly #hasLinks: boolean;
  readonly #kernel = new Kernel({ seed: 1, keepsLog: false });
  readonly #network = new SimulatedNetwork(this.#kernel);
  readonly #tree = new MemoryStateTree();
  readonly #settings: Settings;
  readonly #planAtMs: number[] = [];
  #registeredAtMs = 0;
  #linkEnds = 0;

  static async measure(
    sized: SizedTopology,
    measurements: Measurements,
    { withLinks }: { readonly withLinks: boolean },
  ): Promise<void> {
    const plane = new SimulatedControlPlane(sized, withLinks);
    const note = (what: string, value: number, unit: string): void =>
      measurements.note(sized.containers, what, value, unit);
    globalThis.gc?.();
    const heapBefore = process.memoryUsage().heapUsed;
    const cpuBefore = process.cpuUsage();
    await plane.#start();
    const startedMs = plane.#kernel.nowMs;
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuSeconds = (user + system) / 1e6;
    if (!withLinks) {
      note('from the last registration to the last plan', plane.#distributionMs, 'simulated ms');
      note('master and all its clients', cpuSeconds, 'CPU s');
      return;
    }
    globalThis.gc?.();
    const links = (sized.containers * (sized.containers - 1)) / 2;
    const heapBytes = process.memoryUsage().heapUsed - heapBefore;
    note('links', links, 'links');
    note('from the plan to the last link', startedMs - plane.#registeredAtMs, 'simulated ms');
    note('mesh', cpuSeconds, 'CPU s');
    if (links > 0) note('mesh: each link', (cpuSeconds * 1e6) / links, 'CPU µs');
    if (links > 0) note('mesh: both ends of a link', heapBytes / 1e3 / links, 'KB');
  }

  private constructor(sized: SizedTopology, hasLinks: boolean) {
    this.#sized = sized;
    this.#hasLinks = hasLinks;
    this.#settings = new Settings(sized.topology.config);
  }

  get #distributionMs(): number {
    return Math.max(...this.#planAtMs) - this.#registeredAtMs;
  }

  async #start(): Promise<void> {
    const { packing, topology, containers } = this.#sized;
    const stateManager = new MemoryStateManager(this.#tree);
    await stateManager.write(paths.topology(topology.name), encodeTopology(topology));
    await stateManager.write(paths.packingPlan(topology.name), encodePackingPlan(packing));
    this.#startMaster();
    const instances = Map.groupBy(expectedInstances(packing), ({ streamManager }) => streamManager);
    for (const { id } of packing.containers) {
      this.#startStreamManager(id, instances.get(streamManagerIdOf(id)) ?? []);
    }
    const linkEnds = this.#hasLinks ? containers * (containers - 1) : 0;
    const isDone = (): boolean =>
      this.#planAtMs.length === containers && this.#linkEnds === linkEnds;
    assert.equal(await this.#kernel.run(isDone, LIMITS), 'reached');
  }

  #startMaster(): void {
    const parts = this.#partsOf(containerId(0), 'heron-tmanager');
    const { name, id } = this.#sized.topology;
    const { host } = addressOf(containerId(0));
    const logger = {
      ...silentLogger,
      info: (message: string): void => {
        if (message === 'a stream manager has registered') {
          this.#registeredAtMs = this.#kernel.nowMs;
        }
      },
    };
    const master = new TopologyMaster({
      ...this.#optionsOf(parts),
      machineTime: () => ({ bootId: 'simulated', ms: this.#kernel.nowMs }),
      logger,
      topologyName: name,
      topologyId: id,
      token: TOKEN,
      host,
      serverPort: PORT,
      controllerPort: PORT + 1,
      statsPort: PORT + 2,
      metricsManagerPort: 1,
      settings: this.#settings,
      listenHttp: simulatedListenHttp(parts.network),
      resourceUse: () => ({ cpuUserUs: 0, cpuSystemUs: 0, residentBytes: 0 }),
      onFailure: (error) => assert.fail(error),
    });
    parts.thread.post(0, () => void master.start());
  }

  #startStreamManager(id: ContainerId, instances: readonly InstanceAddress[]): void {
    const parts = this.#partsOf(id, streamManagerIdOf(id));
    const { settings, own } = { settings: this.#settings, own: this.#membership };
    const address = addressOf(id, PORT);
    const links = this.#createLinks(id, parts);
    const options = { ...this.#optionsOf(parts), packetBytesMax: PACKET_BYTES_MAX };
    const client = new MasterClient({
      ...options,
      own,
      address,
      reconnectIntervalMs: settings.get('heron.streammgr.client.reconnect.tmanager.interval.ms'),
      heartbeatIntervalMs: settings.get('heron.streammgr.tmanager.heartbeat.interval.ms'),
      locationLimitMs: settings.get('heron.check.tmanager.location.interval.ms'),
      events: {
        onPlan: (plan) => this.#handlePlan(plan, links),
        onFatal: (error) => assert.fail(error),
      },
    });
    const start = async (): Promise<void> => {
      const { handlers } = links;
      const listen = { host: address.host, port: PORT };
      await PacketServer.listen({ ...options, address: listen, handlers });
      client.start();
      client.register(instances);
    };
    parts.thread.post(0, () => void start());
  }

  #createLinks(id: ContainerId, parts: Parts): PeerLinks {
    const options = this.#optionsOf(parts);
    const silenceMs = this.#settings.get('heron.streammgr.link.silence.ms');
    return new PeerLinks({
      ...options,
      own: this.#membership,
      ownId: streamManagerIdOf(id),
      ownContainer: id,
      packetBytesMax: PACKET_BYTES_MAX,
      reconnectIntervalMs: this.#settings.get('heron.streammgr.client.reconnect.interval.ms'),
      metrics: new MetricsRegistry(),
      events: {
        onLinkUp: () => {
          this.#linkEnds += 1;
        },
        onLinkDown: (_link, reason) => assert.fail(reason),
        onStreamMessage: () => {},
        onPressure: () => {},
      },
      watch: new LinkWatch(options.clock, silenceMs),
    });
  }

  #handlePlan(plan: PhysicalPlanMessage, links: PeerLinks): void {
    this.#planAtMs.push(this.#kernel.nowMs);
    if (this.#hasLinks) links.update(physicalPlanFromMessage(plan));
  }

  get #membership() {
    const { name, id } = this.#sized.topology;
    return { topologyName: name, topologyId: id, token: TOKEN, engineVersion: ENGINE_VERSION };
  }

  #partsOf(container: ContainerId, name: string): Parts {
    const thread = this.#kernel.createThread(name);
    const network = this.#network.portOf(thread, addressOf(container).host, name);
    return { thread, network, stateManager: new MemoryStateManager(this.#tree) };
  }

  #optionsOf({ thread, network, stateManager }: Parts) {
    const random = this.#kernel.random(thread.name);
    return { clock: thread.clock, random, network, stateManager, logger: silentLogger };
  }
}
