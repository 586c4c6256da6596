import assert from 'node:assert/strict';
import { test } from 'node:test';
import { epoch } from '../../../../src/base/ids.ts';
import { packRoundRobin } from '../../../../src/packing/round-robin.ts';
import { ControlChecker } from '../../../../src/simulation/checkers/control-checker.ts';
import {
  NewInstanceAssignment,
  NewPhysicalPlan,
  RegisterInstance,
  StatusCode,
  StreamManagerHeartbeat,
} from '../../../../src/wire/messages.ts';
import { physicalPlanToMessage } from '../../../../src/wire/physical-plan.ts';
import { topologyToMessage } from '../../../../src/wire/topology.ts';
import { TUPLE_SET_2_TYPE } from '../../../../src/wire/tuple-set-format.ts';
import { aPhysicalPlan, aTopology } from '../../../support/topologies.ts';
import { aFinishedRun, ANY_FAULT, NO_FAULTS } from './finished-run.ts';
import { HandWritten } from './hand-written.ts';
import { ScriptedTraffic } from './scripted-traffic.ts';

const UP = { connection: 1, from: 'container_1_count_1', to: 'stmgr-1' };
const DOWN = { connection: 1, from: 'stmgr-1', to: 'container_1_count_1' };
const FROM_MASTER = { connection: 2, from: 'heron-tmanager', to: 'stmgr-1' };
const TO_MASTER = { connection: 2, from: 'stmgr-1', to: 'heron-tmanager' };
const MIB = 1024 * 1024;

const TOPOLOGY = aTopology();
const PLAN = aPhysicalPlan(TOPOLOGY, packRoundRobin(TOPOLOGY).plan);
const planOf = (number: number) =>
  physicalPlanToMessage({ ...PLAN, epoch: epoch(number) }, topologyToMessage(TOPOLOGY));

const status = { status: StatusCode.OK };
const answer = RegisterInstance.response.create({ status });
const beat = StreamManagerHeartbeat.request.create({ heartbeatTime: 1n, stats: {} });

function aCase() {
  const checker = new ControlChecker();
  const traffic = new ScriptedTraffic(checker);
  const { workload } = new HandWritten();
  return {
    traffic,
    ask: () => traffic.packet(UP, RegisterInstance.request.typeName, new Uint8Array(8), 7),
    reply: () => traffic.send(DOWN, RegisterInstance.response, answer, 7),
    data: (bytes: number) => traffic.packet(DOWN, TUPLE_SET_2_TYPE, new Uint8Array(bytes)),
    problems: (explanation = NO_FAULTS) =>
      checker.finish(aFinishedRun(workload, { explanation, endedAtMs: traffic.atMs })),
  };
}

test('an answer that comes soon, ahead of the data, is in order', () => {
  const { traffic, ask, reply, data, problems } = aCase();
  ask();
  data(300_000);
  traffic.atMs = 4;
  reply();
  data(10 * MIB);
  assert.deepEqual(problems(), []);
});

test('an answer behind a megabyte of data is found, however quick, and has no excuse', () => {
  const { ask, reply, data, problems } = aCase();
  ask();
  data(MIB);
  reply();
  const [problem] = problems(ANY_FAULT);
  assert.match(problem ?? '', /RegisterInstanceRequest .* behind 1048576 bytes of data$/);
});

test('an answer that is late is found, unless a fault explains it', () => {
  const { traffic, ask, reply, problems } = aCase();
  ask();
  traffic.atMs = 5000;
  reply();
  assert.match(
    problems()[0] ?? '',
    /^the answer to .* from stmgr-1 to container_1_count_1, due at 0/,
  );
  assert.deepEqual(problems(ANY_FAULT).length, 0);
});

test('an answer that never comes is found, unless its connection ended', () => {
  const missing = aCase();
  missing.ask();
  missing.ask(); // No answer, whatever its number.
  missing.traffic.atMs = 5000;
  assert.equal(missing.problems().length, 1);
  const ended = aCase();
  ended.ask();
  ended.traffic.end(1);
  ended.traffic.atMs = 5000;
  assert.deepEqual(ended.problems(), []);
});

function withAssignedPlan() {
  const made = aCase();
  const { traffic } = made;
  const assign = (number: number) =>
    traffic.send(
      DOWN,
      NewInstanceAssignment,
      NewInstanceAssignment.create({ pplan: planOf(number) }),
    );
  const distribute = (number: number) =>
    traffic.send(
      FROM_MASTER,
      NewPhysicalPlan,
      NewPhysicalPlan.create({ newPplan: planOf(number) }),
    );
  assign(1);
  return { ...made, assign, distribute };
}

test('a plan overtakes the tuples on its way to an instance', () => {
  const { traffic, assign, distribute, data, problems } = withAssignedPlan();
  distribute(2);
  data(100_000);
  traffic.atMs = 3;
  assign(2);
  assert.deepEqual(problems(), []);
});

test('a plan that waits behind tuples, or for long, is found', () => {
  const behind = withAssignedPlan();
  behind.distribute(2);
  behind.data(2 * MIB);
  behind.assign(2);
  assert.match(behind.problems()[0] ?? '', /^plan 2 from stmgr-1 .* behind 2097152 bytes/);
  const late = withAssignedPlan();
  late.distribute(2);
  late.assign(1); // The old one once more does not count.
  late.traffic.atMs = 2000;
  assert.match(late.problems()[0] ?? '', /^plan 2 from stmgr-1 to .*, due at 0 ms/);
});

test('an instance without a plan is owed none, nor one that has a newer one', () => {
  const { traffic, assign, distribute, problems } = withAssignedPlan();
  assign(5);
  distribute(4);
  traffic.atMs = 9000;
  assert.deepEqual(problems(), []);
});

test('heartbeats follow each other by their period', () => {
  const { traffic, problems } = aCase();
  for (const atMs of [0, 2010, 4020]) {
    traffic.atMs = atMs;
    traffic.send(TO_MASTER, StreamManagerHeartbeat.request, beat);
  }
  assert.deepEqual(problems(), []);
  traffic.atMs = 8000;
  traffic.send(TO_MASTER, StreamManagerHeartbeat.request, beat);
  assert.match(
    problems()[0] ?? '',
    /^the next heartbeat from stmgr-1 to heron-tmanager, due at 4020/,
  );
});

test('another connection has another rhythm', () => {
  const { traffic, problems } = aCase();
  traffic.send(TO_MASTER, StreamManagerHeartbeat.request, beat);
  traffic.end(2);
  traffic.atMs = 8000;
  traffic.send({ ...TO_MASTER, connection: 5 }, StreamManagerHeartbeat.request, beat);
  traffic.send(TO_MASTER, StreamManagerHeartbeat.request, beat);
  assert.deepEqual(problems(), []);
});
