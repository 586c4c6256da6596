import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentError, hasCode } from '../../../../src/base/errors.ts';
import { silentLogger } from '../../../../src/base/logger.ts';
import { createSeededRandom } from '../../../../src/base/random.ts';
import { systemFiles } from '../../../../src/base/system-files.ts';
import { TopologySupervisor } from '../../../../src/scheduler/local/topology-supervisor.ts';
import { MemoryStateManager } from '../../../../src/state-manager/memory/memory-state-manager.ts';
import { paths } from '../../../../src/state-manager/paths.ts';
import { encodeTopology } from '../../../../src/wire/topology.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { schedulerArguments } from '../../../support/scheduler-arguments.ts';
import { ScriptedProcessTable } from '../../../support/scripted-process-table.ts';
import { timePassing } from '../../../support/time-passing.ts';
import { aTopology } from '../../../support/topologies.ts';

/** A store that does not answer until its time has come. */
class LateStore extends MemoryStateManager {
  readonly #clock: ManualClock;
  readonly #upAtMs: number;

  constructor(clock: ManualClock, upAtMs: number) {
    super();
    this.#clock = clock;
    this.#upAtMs = upAtMs;
  }

  override async read(path: string): Promise<Uint8Array | undefined> {
    if (this.#clock.now() >= this.#upAtMs) return super.read(path);
    throw environmentError('STATE_UNAVAILABLE', 'the store is away', { retryable: true });
  }
}

async function aSupervisor(upAtMs: number) {
  const clock = new ManualClock();
  const stateManager = new LateStore(clock, upAtMs);
  const args = schedulerArguments();
  const topology = { ...aTopology(), id: args.topologyId };
  await stateManager.write(paths.topology(args.topologyName), encodeTopology(topology));
  const supervisor = new TopologySupervisor({
    arguments: args,
    stateManager,
    archives: { remove: async () => {} },
    setUp: async () => assert.fail('nothing is set up'),
    commandOf: () => assert.fail('nothing is started'),
    files: systemFiles,
    processes: new ScriptedProcessTable(),
    clock,
    random: createSeededRandom(1),
    logger: silentLogger,
    onEnding: () => {},
  });
  return { supervisor, clock };
}

test('a scheduler whose store never comes up ends with the reason (O15)', async () => {
  const { supervisor, clock } = await aSupervisor(Number.POSITIVE_INFINITY);
  await assert.rejects(timePassing(clock, supervisor.readSettings()), (error) =>
    hasCode(error, 'STATE_UNAVAILABLE'),
  );
  assert.ok(clock.now() >= 118_000 && clock.now() < 122_000, `after ${clock.now()} ms`);
});

test('one whose store comes up after a minute runs (O15)', async () => {
  const { supervisor, clock } = await aSupervisor(60_000);
  const settings = await timePassing(clock, supervisor.readSettings());
  assert.equal(settings.get('heron.shutdown.grace.ms'), 5_000);
});
