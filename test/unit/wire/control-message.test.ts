import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { hasCode } from '../../../src/base/errors.ts';
import { TopologyState } from '../../../src/wire/generated/topology_pb.js';
import {
  NewInstanceAssignment,
  RegisterInstance,
  RegisterStreamManager,
  StatusCode,
  StoredTopology,
  TopologyMasterLocation,
} from '../../../src/wire/messages.ts';

const location = TopologyMasterLocation.create({
  topologyName: 'words',
  topologyId: 'words1',
  host: '127.0.0.1',
  controllerPort: 1,
  serverPort: 2,
  statsPort: 3,
  epoch: 4n,
});

const malformedWith =
  (text: string) =>
  (error: unknown): boolean => {
    assert.ok(hasCode(error, 'PACKET_MALFORMED'), String(error));
    assert.ok(error.message.includes(text), error.message);
    return true;
  };

suite('control messages', () => {
  test('come back as they were sent, our fields too', () => {
    const bytes = TopologyMasterLocation.encode(location);
    assert.deepEqual(TopologyMasterLocation.decode(bytes), location);
  });

  test('carry their full proto names', () => {
    const { request, response } = RegisterStreamManager;
    assert.equal(request.typeName, 'heron.proto.tmanager.StMgrRegisterRequest');
    assert.equal(response.typeName, 'heron.proto.tmanager.StMgrRegisterResponse');
    assert.equal(NewInstanceAssignment.typeName, 'heron.proto.stmgr.NewInstanceAssignmentMessage');
  });

  test('cut short are malformed', () => {
    const bytes = TopologyMasterLocation.encode(location);
    // Whole without its optional fields: stats_port (2 bytes) and epoch (3 bytes).
    const wholeAt = new Set([bytes.length - 3, bytes.length - 5]);
    for (let end = 0; end < bytes.length; end += 1) {
      const decode = (): unknown => TopologyMasterLocation.decode(bytes.subarray(0, end));
      if (wholeAt.has(end)) assert.ok(decode());
      else assert.throws(decode, malformedWith('TManagerLocation'));
    }
  });

  test('without a required field are malformed, whatever the depth (C1)', () => {
    const { response } = RegisterInstance;
    // status { status: OK }; pplan { topology {} }
    const bytes = Uint8Array.of(0x0a, 2, 0x08, StatusCode.OK, 0x12, 2, 0x0a, 0);
    assert.throws(() => response.decode(bytes), malformedWith('required field pplan.topology.id'));
    assert.throws(() => response.decode(new Uint8Array(0)), malformedWith('required field status'));
    // A topology with a bolt whose second input has no stream.
    const component = [0x0a, 5, 0x0a, 1, 0x62, 0x1a, 0];
    const input = [0x12, 10, 0x0a, 6, 0x0a, 1, 0x73, 0x12, 1, 0x63, 0x10, 1];
    const bolt = [...component, ...input, 0x12, 2, 0x10, 1];
    const topology = [0x0a, 1, 0x69, 0x12, 1, 0x6e, 0x22, bolt.length, ...bolt, 0x28, 1];
    assert.throws(
      () => StoredTopology.decode(Uint8Array.from(topology)),
      malformedWith('required field bolts[0].inputs[1].stream'),
    );
  });

  test('with an unknown value in a required enum are malformed', () => {
    const bytes = Uint8Array.of(0x0a, 2, 0x08, 99);
    const decode = (): unknown => RegisterInstance.response.decode(bytes);
    assert.throws(decode, malformedWith('required field status.status'));
  });

  test('with unknown fields keep them', () => {
    const bytes = Uint8Array.from([...TopologyMasterLocation.encode(location), 0xf8, 0x7f, 7]);
    const decoded = TopologyMasterLocation.decode(bytes);
    assert.deepEqual(TopologyMasterLocation.encode(decoded), bytes);
  });

  test('share no memory with the bytes that they were read from (C2)', () => {
    const topology = StoredTopology.create({
      id: 'i',
      name: 'n',
      state: TopologyState.RUNNING,
      spouts: [{ comp: { name: 's', config: {}, serializedObject: Uint8Array.of(1, 2, 3) } }],
    });
    const bytes = StoredTopology.encode(topology);
    const decoded = StoredTopology.decode(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length),
    );
    bytes.fill(0);
    assert.deepEqual(decoded.spouts[0]?.comp?.serializedObject, Uint8Array.of(1, 2, 3));
  });
});
