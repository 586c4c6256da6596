import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { delay, systemClock } from '../../src/base/clock.ts';
import { EngineError } from '../../src/base/errors.ts';
import { epoch, instanceIdOf, streamManagerIdOf } from '../../src/base/ids.ts';
import { silentLogger } from '../../src/base/logger.ts';
import { createSystemRandom } from '../../src/base/random.ts';
import { ENGINE_VERSION } from '../../src/base/version.ts';
import type { ContainerPlan } from '../../src/model/packing-plan.ts';
import { MessageHandlers } from '../../src/net/message-handlers.ts';
import { PacketConnection } from '../../src/net/packet-connection.ts';
import { PacketServer } from '../../src/net/server.ts';
import { tcpNetwork } from '../../src/net/tcp-network.ts';
import { paths } from '../../src/state-manager/paths.ts';
import { expectedInstances } from '../../src/topology-master/placement.ts';
import {
  Hello,
  NewInstanceAssignment,
  NewPhysicalPlan,
  RegisterInstance,
  RegisterStreamManager,
  StatusCode,
  StreamManagerHeartbeat,
  TopologyMasterLocation,
} from '../../src/wire/messages.ts';
import {
  instanceToMessage,
  type PhysicalPlanMessage,
  physicalPlanToMessage,
  streamManagerFromMessage,
} from '../../src/wire/physical-plan.ts';
import { topologyToMessage } from '../../src/wire/topology.ts';
import { HOST, MeasuredProcess, TOKEN, Workplace } from './measured-process.ts';
import type { Measurements } from './measurement.ts';
import { addressOf, type SizedTopology } from './sized-topology.ts';

/*
  One stream manager alone in a process, in the middle of the mesh: half of its peers dial it, it
  dials the other half. Peers, instances and master are scripted and live in the bench's process.
*/

type Ports = Record<'data' | 'localData', number>;

const MB = 1e6;
const IDLE_MS = 10_000;
const RECONNECT_MS = 200;
const ALL_PEERS_UP = 60_000;
const OPTIONS = {
  packetBytesMax: 64 * 1024 * 1024,
  clock: systemClock,
  random: createSystemRandom(),
  logger: silentLogger,
  network: tcpNetwork,
  address: { host: HOST, port: 0 },
};

export class StreamManagerAlone {
  readonly #sized: SizedTopology;
  readonly #workplace: Workplace;
  readonly #measurements: Measurements;
  readonly #container: ContainerPlan;
  #process: MeasuredProcess<Ports> | undefined;
  #master: PacketServer | undefined;
  #toManager: PacketConnection | undefined;
  #dialled: PacketServer[] = [];
  #dialling: PacketConnection[] = [];
  #instances: PacketConnection[] = [];
  #epoch = 1;
  #hellos = 0;
  #repeatedDials = 0;
  #assignments = 0;
  #registered = Promise.withResolvers<void>();

  static async measure(sized: SizedTopology, measurements: Measurements): Promise<void> {
    const workplace = await Workplace.create(sized);
    const bench = new StreamManagerAlone(sized, workplace, measurements);
    try {
      await bench.#listen();
      await bench.#start();
      await bench.#link();
      await bench.#idle();
      await bench.#anotherPlan();
      await bench.#everybodyMoves();
    } finally {
      await bench.#process?.kill();
      for (const connection of [...bench.#dialling, ...bench.#instances]) connection.abort();
      await bench.#master?.close();
      await Promise.all(bench.#dialled.map((server) => server.close()));
      await workplace.remove();
    }
  }

  private constructor(sized: SizedTopology, workplace: Workplace, measurements: Measurements) {
    this.#sized = sized;
    this.#workplace = workplace;
    this.#measurements = measurements;
    const { containers } = sized.packing;
    const middle = containers[Math.floor(containers.length / 2)];
    assert(middle);
    this.#container = middle;
  }

  get #started(): MeasuredProcess<Ports> {
    assert(this.#process);
    return this.#process;
  }

  #note(what: string, value: number, unit: string): void {
    this.#measurements.note(this.#sized.containers, what, value, unit);
  }

  async #listen(): Promise<void> {
    this.#master = await PacketServer.listen({ ...OPTIONS, handlers: this.#masterHandlers() });
    await this.#listenAsPeers();
    const { name, id } = this.#sized.topology;
    const location = TopologyMasterLocation.create({
      topologyName: name,
      topologyId: id,
      host: HOST,
      serverPort: this.#master.address.port,
      controllerPort: 1,
      statsPort: 1,
      epoch: 1n,
    });
    const bytes = TopologyMasterLocation.encode(location);
    await this.#workplace.stateManager.write(paths.topologyMaster(name), bytes);
  }

  #masterHandlers(): MessageHandlers {
    return new MessageHandlers()
      .onRequest(RegisterStreamManager, (request, connection) => {
        assert(request.stmgr);
        assert.equal(streamManagerFromMessage(request.stmgr).id, this.#ownId);
        this.#toManager = connection;
        this.#registered.resolve();
        const status = { status: StatusCode.OK, message: '' };
        return RegisterStreamManager.response.create({ status, masterEpoch: 1n });
      })
      .onRequest(StreamManagerHeartbeat, () =>
        StreamManagerHeartbeat.response.create({ status: { status: StatusCode.OK } }),
      );
  }

  /** One listener plays all peers that the measured one dials. */
  async #listenAsPeers(): Promise<void> {
    const handlers = new MessageHandlers().onRequest(Hello, () => {
      this.#hellos += 1;
      const status = { status: StatusCode.OK, message: '' };
      return Hello.response.create({ status, engineVersion: ENGINE_VERSION });
    });
    this.#dialled.push(await PacketServer.listen({ ...OPTIONS, handlers }));
  }

  get #ownId() {
    return streamManagerIdOf(this.#container.id);
  }

  get #planMessage(): PhysicalPlanMessage {
    const { packing, topology } = this.#sized;
    const dataPort = this.#dialled.at(-1)?.address.port ?? 0;
    this.#epoch += 1;
    return physicalPlanToMessage(
      {
        epoch: epoch(this.#epoch),
        streamManagers: packing.containers.map(({ id }) => ({
          ...addressOf(id, dataPort),
          host: HOST,
        })),
        instances: expectedInstances(packing),
      },
      topologyToMessage(topology),
    );
  }

  /** Until the master knows it and its instances. */
  async #start(): Promise<void> {
    const { id, instances } = this.#container;
    this.#process = await MeasuredProcess.start<Ports>(
      'stream-manager',
      this.#workplace.flags({
        'container-id': id,
        id: this.#ownId,
        'instance-ids': instances
          .map(({ component, task }) => instanceIdOf(id, component, task))
          .join(','),
        'data-port': 0,
        'local-data-port': 0,
        'metrics-manager-port': 1, // Nobody listens there; nothing waits for it.
        'shell-port': 0,
      }),
    );
    const own = expectedInstances(this.#sized.packing).filter(
      ({ streamManager }) => streamManager === this.#ownId,
    );
    const handlers = new MessageHandlers().onRaw(NewInstanceAssignment.typeName, () => {
      this.#assignments += 1;
    });
    const { name, id: topologyId } = this.#sized.topology;
    for (const instance of own) {
      const port = this.#process.ports.localData;
      const stream = await tcpNetwork.connect({ host: HOST, port });
      const connection = new PacketConnection(stream, { ...OPTIONS, handlers });
      this.#instances.push(connection);
      const request = RegisterInstance.request.create({
        instance: instanceToMessage(instance),
        topologyName: name,
        topologyId,
        token: TOKEN,
        engineVersion: ENGINE_VERSION,
        creditBytes: 1_000_000n,
      });
      await connection.request(RegisterInstance, request, { timeoutMs: ALL_PEERS_UP });
    }
    await this.#registered.promise;
  }

  /** The plan comes, and with it all links; then the instances get it. */
  async #link(): Promise<void> {
    const before = await this.#started.memory();
    const plan = this.#planMessage;
    const overflowsBefore = listenOverflows();
    const cpuMs = await this.#started.cpuMsDuring(async () => {
      this.#publish(plan);
      await this.#dialAll();
      await this.#assigned(this.#instances.length);
    });
    const after = await this.#started.memory();
    const { containers } = this.#sized;
    this.#note('links of one stream manager', this.#hellos + this.#dialling.length, 'links');
    this.#note('links of the mesh', (containers * (containers - 1)) / 2, 'links');
    this.#note('open files', this.#started.openFiles, 'files');
    this.#note('first plan and all links', cpuMs, 'CPU ms');
    this.#note('dials that were reset', this.#repeatedDials, 'dials');
    this.#note('dials that found its queue full', listenOverflows() - overflowsBefore, 'dials');
    this.#note('memory for plan and links', (after.heapBytes - before.heapBytes) / MB, 'MB');
    this.#note('resident', after.residentBytes / MB, 'MB');
  }

  async #idle(): Promise<void> {
    const cpuMs = await this.#started.cpuMsDuring(() => delay(systemClock, IDLE_MS));
    this.#note('with nothing to do', cpuMs / (IDLE_MS / 1000), 'CPU ms/s');
  }

  async #anotherPlan(): Promise<void> {
    const plan = this.#planMessage;
    const cpuMs = await this.#started.cpuMsDuring(async () => {
      this.#publish(plan);
      await this.#assigned(2 * this.#instances.length);
    });
    this.#note('one more plan, passed to ten instances', cpuMs, 'CPU ms');
  }

  /** Every peer that it dials is somewhere else. */
  async #everybodyMoves(): Promise<void> {
    await this.#listenAsPeers();
    const plan = this.#planMessage;
    const expected = 2 * this.#hellos;
    const cpuMs = await this.#started.cpuMsDuring(async () => {
      this.#publish(plan);
      while (this.#hellos < expected) await delay(systemClock, 1);
      await this.#assigned(3 * this.#instances.length);
    });
    this.#note('a plan in which all peers have moved', cpuMs, 'CPU ms');
  }

  #publish(plan: PhysicalPlanMessage): void {
    const message = NewPhysicalPlan.create({ newPplan: plan, masterEpoch: 1n });
    this.#toManager?.send(NewPhysicalPlan, message);
  }

  /** All at once, as peers do that got the plan in the same moment. */
  async #dialAll(): Promise<void> {
    const { packing } = this.#sized;
    const dialling = packing.containers.filter(({ id }) => id < this.#container.id);
    await Promise.all(dialling.map(({ id }) => this.#linkFrom(streamManagerIdOf(id))));
  }

  /** Until it is there, as a real one does. */
  async #linkFrom(peer: string): Promise<void> {
    for (;;) {
      try {
        this.#dialling.push(await this.#sayHello(peer));
        return;
      } catch (error) {
        if (!(error instanceof EngineError && error.retryable)) throw error;
        this.#repeatedDials += 1;
        await delay(systemClock, RECONNECT_MS);
      }
    }
  }

  async #sayHello(peer: string): Promise<PacketConnection> {
    const { name, id } = this.#sized.topology;
    const stream = await tcpNetwork.connect({ host: HOST, port: this.#started.ports.data });
    const connection = new PacketConnection(stream, {
      ...OPTIONS,
      handlers: new MessageHandlers(),
    });
    const request = Hello.request.create({
      topologyName: name,
      topologyId: id,
      stmgr: peer,
      token: TOKEN,
      engineVersion: ENGINE_VERSION,
      planEpoch: BigInt(this.#epoch),
    });
    const { status } = await connection.request(Hello, request, { timeoutMs: ALL_PEERS_UP });
    assert.equal(status?.status, StatusCode.OK, status?.message);
    return connection;
  }

  async #assigned(count: number): Promise<void> {
    while (this.#assignments < count) await delay(systemClock, 1);
  }
}

/** Of the whole machine since its start (Linux): connections that found a full accept queue. */
function listenOverflows(): number {
  const lines = readFileSync('/proc/net/netstat', 'utf8').split('\n');
  const [names = [], numbers = []] = lines.slice(0, 2).map((line) => line.split(' '));
  return Number(numbers[names.indexOf('ListenOverflows')] ?? 0);
}
