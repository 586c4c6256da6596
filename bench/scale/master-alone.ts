import { strict as assert } from 'node:assert';
import { delay, systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import type { InstanceAddress } from '../../src/model/physical-plan.ts';
import { MessageHandlers } from '../../src/net/message-handlers.ts';
import { PacketConnection } from '../../src/net/packet-connection.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import { expectedInstances } from '../../src/topology-master/placement.ts';
import {
  PublishMetricsToMaster,
  StreamManagerHeartbeat,
  StatusCode,
} from '../../src/wire/messages.ts';
import { TOKEN_HEADER } from '../../src/wire/token-header.ts';
import type { Measurements } from './measurement.ts';
import { HOST, MeasuredProcess, TOKEN, Workplace } from './measured-process.ts';
import { ScriptedStreamManager } from './scripted-stream-manager.ts';
import { addressOf, type SizedTopology } from './sized-topology.ts';

/*
  The topology master alone in a process, over real sockets, with a state tree of real files. All
  stream managers are scripted and live in the process of the bench.
*/

type MasterPorts = Record<'server' | 'controller' | 'stats', number>;
type Master = MeasuredProcess<MasterPorts>;

const MB = 1e6;
const BEAT_PERIOD_MS = 2000;
const BEATING_MS = 10_000;
const METRIC_MINUTES = 20;
/** What a master keeps of the metrics of one task that reads one stream and emits another. */
const KEPT_METRICS = [
  '__emit-count/default',
  '__execute-count/split/default',
  '__execute-latency/split/default',
  '__fail-count/split/default',
  '__ack-count/default',
];

export class MasterAlone {
  readonly #sized: SizedTopology;
  readonly #workplace: Workplace;
  readonly #measurements: Measurements;
  readonly #instances: ReadonlyMap<string, readonly InstanceAddress[]>;
  #master: Master | undefined;
  #peers: readonly ScriptedStreamManager[] = [];

  static async measure(sized: SizedTopology, measurements: Measurements): Promise<void> {
    const workplace = await Workplace.create(sized);
    const bench = new MasterAlone(sized, workplace, measurements);
    try {
      await bench.#start();
      await bench.#registerAll();
      await bench.#beat();
      await bench.#pause();
      await bench.#restartMaster();
      await bench.#restartContainers();
      await bench.#publishMetrics();
      await bench.#endTasks();
    } finally {
      await bench.#master?.kill();
      await Promise.all(bench.#peers.map((peer) => peer.close()));
      await workplace.remove();
    }
  }

  private constructor(sized: SizedTopology, workplace: Workplace, measurements: Measurements) {
    this.#sized = sized;
    this.#workplace = workplace;
    this.#measurements = measurements;
    this.#instances = Map.groupBy(
      expectedInstances(sized.packing),
      ({ streamManager }) => streamManager,
    );
  }

  get #started(): Master {
    assert(this.#master);
    return this.#master;
  }

  #note(what: string, value: number, unit: string): void {
    this.#measurements.note(this.#sized.containers, what, value, unit);
  }

  async #start(): Promise<void> {
    this.#master = await MeasuredProcess.start<MasterPorts>(
      'topology-master',
      this.#workplace.flags({
        'server-port': 0,
        'controller-port': 0,
        'stats-port': 0,
        'metrics-manager-port': 1, // Nobody listens there; nothing waits for it.
      }),
    );
  }

  async #connectAll(): Promise<void> {
    await Promise.all(this.#peers.map((peer) => peer.close()));
    const address = { host: HOST, port: this.#started.ports.server };
    const peers: ScriptedStreamManager[] = [];
    for (const _ of this.#sized.packing.containers) {
      peers.push(await ScriptedStreamManager.connect(address));
    }
    this.#peers = peers;
  }

  /** All at once. Returns what their answers weigh. */
  async #register(dataPort?: number): Promise<number> {
    const answers = await Promise.all(
      this.#peers.map((peer, index) => {
        const container = this.#sized.packing.containers[index];
        assert(container);
        const address = addressOf(container.id, dataPort);
        return peer.register(address, this.#instances.get(address.id) ?? []);
      }),
    );
    for (const peer of this.#peers) peer.beatEvery(BEAT_PERIOD_MS);
    return answers.reduce((sum, bytes) => sum + bytes, 0);
  }

  async #registerAll(): Promise<void> {
    const before = await this.#started.memory();
    await this.#connectAll();
    const cpuMs = await this.#started.cpuMsDuring(async () => {
      await this.#register();
      await this.#plansArrived(1);
    });
    this.#note('start: registrations and first plan', cpuMs, 'CPU ms');
    const after = await this.#started.memory();
    this.#note('memory for plan and connections', (after.heapBytes - before.heapBytes) / MB, 'MB');
    this.#note('resident at the peak of the start', after.peakBytes / MB, 'MB');
    this.#note('open files', this.#started.openFiles, 'files');
    this.#note('log of the start', this.#workplace.logBytes / MB, 'MB');
  }

  async #beat(): Promise<void> {
    await delay(systemClock, BEAT_PERIOD_MS);
    const cpuMs = await this.#started.cpuMsDuring(() => delay(systemClock, BEATING_MS));
    const perSecond = this.#peers.length / (BEAT_PERIOD_MS / 1000);
    this.#note('heartbeats and answers', 2 * perSecond, 'messages/s');
    this.#note('heartbeats and answers on the wire', perSecond * beatBytes(), 'bytes/s');
    this.#note('heartbeats', cpuMs / (BEATING_MS / 1000), 'CPU ms/s');
  }

  /** A command makes another plan, which goes to everybody. */
  async #pause(): Promise<void> {
    const { name, id } = this.#sized.topology;
    const query = `topologyid=${id}&topologyname=${name}`;
    const url = `http://${HOST}:${this.#started.ports.controller}/deactivate?${query}`;
    const seen = Math.min(...this.#peers.map(({ plans }) => plans));
    const cpuMs = await this.#started.cpuMsDuring(async () => {
      const response = await fetch(url, { headers: { [TOKEN_HEADER]: TOKEN } });
      assert(response.ok, await response.text());
      await this.#plansArrived(seen + 1);
    });
    this.#note('one more plan to all', cpuMs, 'CPU ms');
    this.#note(
      'resident at the peak after it',
      (await this.#started.memory()).peakBytes / MB,
      'MB',
    );
  }

  async #restartMaster(): Promise<void> {
    await this.#started.kill();
    await this.#start();
    await this.#connectAll();
    let bytes = 0;
    const cpuMs = await this.#started.cpuMsDuring(async () => {
      bytes = await this.#register();
    });
    this.#note('master restarted: all register again', cpuMs, 'CPU ms');
    this.#note('master restarted: answers', bytes / MB, 'MB');
  }

  /** Every stream manager is another process at another port. */
  async #restartContainers(): Promise<void> {
    await this.#connectAll();
    const cpuMs = await this.#started.cpuMsDuring(async () => {
      await this.#register(30_000);
      await this.#plansArrived(1);
      await this.#settled();
    });
    const plans = this.#peers.reduce((sum, peer) => sum + peer.plans, 0);
    const bytes = this.#peers.reduce((sum, peer) => sum + peer.planBytes, 0);
    this.#note('all containers restarted', cpuMs, 'CPU ms');
    this.#note('all containers restarted: plans to each', plans / this.#peers.length, 'plans');
    this.#note('all containers restarted: plans to all', bytes / MB, 'MB');
  }

  async #publishMetrics(): Promise<void> {
    const stream = await tcpNetwork.connect({ host: HOST, port: this.#started.ports.server });
    const connection = new PacketConnection(stream, {
      handlers: new MessageHandlers(),
      packetBytesMax: 1024,
      clock: systemClock,
      random: createSystemRandom(),
      logger: silentLogger,
    });
    const before = await this.#started.memory();
    let cpuMs = 0;
    for (let minute = 0; minute < METRIC_MINUTES; minute += 1) {
      await this.#started.passMinute();
      cpuMs += await this.#started.cpuMsDuring(() => this.#publishMinute(connection));
    }
    const after = await this.#started.memory();
    connection.abort();
    const megabytes = (after.heapBytes - before.heapBytes) / MB;
    this.#note('metrics', cpuMs / METRIC_MINUTES / 60, 'CPU ms/s');
    this.#note(`memory for ${METRIC_MINUTES} minutes of metrics`, megabytes, 'MB');
  }

  /** One message for each instance, as its metrics manager passes them on. */
  async #publishMinute(connection: PacketConnection): Promise<void> {
    for (const instances of this.#instances.values()) {
      for (const { component, id } of instances) {
        const metrics = KEPT_METRICS.map((name, index) => ({
          componentName: component,
          instanceId: id,
          name,
          value: `${(index + 1) * 1234.5}`,
          timestamp: 1_700_000_000_000n,
        }));
        connection.send(PublishMetricsToMaster, PublishMetricsToMaster.create({ metrics }));
      }
      while (connection.queuedBytes > MB) await delay(systemClock, 1);
    }
    while (connection.queuedBytes > 0) await delay(systemClock, 1);
    // On the same connection: answered when all before it has been read.
    await connection.request(
      StreamManagerHeartbeat,
      StreamManagerHeartbeat.request.create({ heartbeatTime: 0n, stats: {} }),
      { timeoutMs: 600_000 },
    );
  }

  /** Each task's end is told at once, with all of its container that ended before. */
  async #endTasks(): Promise<void> {
    const cpuMs = await this.#started.cpuMsDuring(async () => {
      const { containers } = this.#sized.packing;
      const rounds = Math.max(...containers.map(({ instances }) => instances.length));
      for (let ended = 1; ended <= rounds; ended += 1) {
        await Promise.all(
          this.#peers.map((peer, index) =>
            peer.beat(containers[index]?.instances.slice(0, ended).map(({ task }) => task)),
          ),
        );
      }
    });
    this.#note('the ends of all tasks', cpuMs, 'CPU ms');
  }

  async #plansArrived(count: number): Promise<void> {
    while (this.#peers.some(({ plans }) => plans < count)) await delay(systemClock, 1);
  }

  /** No plan has come for a while. */
  async #settled(): Promise<void> {
    for (let seen = -1, quietRounds = 0; quietRounds < 20; ) {
      const plans = this.#peers.reduce((sum, peer) => sum + peer.plans, 0);
      quietRounds = plans === seen ? quietRounds + 1 : 0;
      seen = plans;
      await delay(systemClock, 100);
    }
  }
}

/** A heartbeat and its answer, as packets. */
function beatBytes(): number {
  const head = (typeName: string): number => 4 + 4 + typeName.length + 32 + 4;
  const { request, response } = StreamManagerHeartbeat;
  const beat = request.encode(request.create({ heartbeatTime: 1_700_000_000n, stats: {} }));
  const answer = response.encode(response.create({ status: { status: StatusCode.OK } }));
  return head(request.typeName) + beat.length + head(response.typeName) + answer.length;
}
