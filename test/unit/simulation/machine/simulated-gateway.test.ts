import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  componentName,
  containerId,
  instanceId,
  streamManagerId,
  taskId,
} from '../../../../src/base/ids.ts';
import { Gateway } from '../../../../src/instance/gateway/gateway.ts';
import type { GatewayThread } from '../../../../src/instance/instance-environment.ts';
import type { InstanceIdentity } from '../../../../src/instance/instance-identity.ts';
import type { GatewayStart, ToGateway } from '../../../../src/instance/thread-channel.ts';
import { Kernel } from '../../../../src/simulation/kernel/kernel.ts';
import { gatewayEnvironmentOf } from '../../../../src/simulation/machine/simulated-environment.ts';
import { startSimulatedGateway } from '../../../../src/simulation/machine/simulated-gateway.ts';
import { SimulatedMachine } from '../../../../src/simulation/machine/simulated-machine.ts';
import { encodeTopology } from '../../../../src/wire/topology.ts';
import { aTopology } from '../../../support/topologies.ts';

const TOPOLOGY = aTopology();
const DEFINITION = '/words.defn';

const IDENTITY: InstanceIdentity = {
  topologyName: TOPOLOGY.name,
  topologyId: TOPOLOGY.id,
  instance: instanceId('container_1_split_2'),
  component: componentName('split'),
  task: taskId(2),
  componentIndex: 0,
  container: containerId(1),
  host: '10.0.0.1',
  streamManager: streamManagerId('stmgr-1'),
  streamManagerPort: 4001,
  metricsManagerPort: 4002,
  definitionFile: DEFINITION,
  logDirectory: '/',
};

const START: GatewayStart = {
  identity: IDENTITY,
  token: 'secret',
  process: { bootId: 'boot', pid: 1, startTicks: 0 },
};

/** The task's side of a gateway, whose definition is on the disk unless a test takes it away. */
class TaskSide {
  readonly kernel = new Kernel({ seed: 1 });
  readonly machine = new SimulatedMachine({
    kernel: this.kernel,
    hosts: ['10.0.0.1'],
    loadTopology: () => assert.fail('nothing is loaded'),
  });
  readonly process = this.machine.startBare('container_1_split_2');
  readonly heard: string[] = [];
  /** Whether everything came in events of the task's thread. */
  readonly threads = new Set<unknown>();
  readonly gateway: GatewayThread;

  constructor({ hasDefinition = true, fails = false } = {}) {
    const { tree } = this.machine.disk;
    if (hasDefinition) tree.put(DEFINITION, encodeTopology(TOPOLOGY));
    const hear = (what: string): void => {
      this.heard.push(what);
      this.threads.add(this.kernel.runningThread);
    };
    this.gateway = startSimulatedGateway(
      this.process,
      (thread) => {
        if (fails) throw new Error('by intent');
        return gatewayEnvironmentOf(this.machine, this.process, thread);
      },
      {
        start: START,
        events: {
          onMessage: ({ kind }) => hear(kind),
          onError: (error) => hear(String(error)),
          onExit: () => hear('exit'),
        },
      },
    );
  }
}

suite('the gateway of a simulated instance', () => {
  test('runs the real gateway, and is heard in events of the task', async () => {
    const side = new TaskSide();
    assert.deepEqual(side.heard, []);
    await side.kernel.advance(100);
    assert.deepEqual(side.heard, ['definition']);
    assert.deepEqual([...side.threads], [side.process.mainThread]);
    assert.ok(side.process.gateway instanceof Gateway);
  });

  test('says that it cannot start', async () => {
    const side = new TaskSide({ hasDefinition: false });
    await side.kernel.advance(100);
    assert.deepEqual(side.heard, ['cannot-start']);
  });

  test('what is posted before it listens waits for it', async () => {
    const side = new TaskSide();
    side.gateway.post({ kind: 'stop' });
    await side.kernel.advance(100);
    assert.deepEqual(side.heard, ['definition', 'stop', 'ping']);
  });

  test('messages are copied, as between real threads', () => {
    const side = new TaskSide();
    const message = { kind: 'exception', error: { stack: () => {} } } as unknown as ToGateway;
    assert.throws(() => side.gateway.post(message), { name: 'DataCloneError' });
  });

  test('an exception in it is told, ends it, and leaves the process alive', async () => {
    const side = new TaskSide({ fails: true });
    await side.kernel.advance(100);
    assert.deepEqual(side.heard, ['Error: by intent', 'exit']);
    assert.equal(side.process.state, 'running');
    assert.deepEqual(
      side.process.threads.map(({ state }) => state),
      ['running', 'dead'],
    );
  });

  test('it can be ended; what is posted afterwards leads nowhere', async () => {
    const side = new TaskSide();
    await side.kernel.advance(100);
    let isGone = false;
    void side.gateway.terminate().then(() => (isGone = true));
    void side.gateway.terminate();
    side.gateway.post({ kind: 'stop' });
    await side.kernel.advance(100);
    assert.deepEqual(side.heard, ['definition', 'exit']);
    assert.ok(isGone);
  });

  test('it stops when nobody holds the other end of standard input any more', async () => {
    const side = new TaskSide();
    await side.kernel.advance(100);
    side.process.endInput();
    await side.kernel.advance(1);
    assert.deepEqual(side.heard, ['definition', 'stop', 'ping']);
  });

  test('a task that never stops is killed with the whole process', async () => {
    const side = new TaskSide();
    await side.kernel.advance(100);
    side.process.mainThread.spend(Number.POSITIVE_INFINITY);
    side.process.endInput();
    await side.kernel.advance(10_000);
    assert.equal(side.process.end?.signal, 'SIGKILL');
  });
});
