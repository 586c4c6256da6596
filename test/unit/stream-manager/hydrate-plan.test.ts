import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { hydratePlan } from '../../../src/stream-manager/hydrate-plan.ts';
import { StoredTopology } from '../../../src/wire/messages.ts';
import { physicalPlanFromMessage, physicalPlanToMessage } from '../../../src/wire/physical-plan.ts';
import {
  topologyFromMessage,
  type TopologyMessage,
  withState,
} from '../../../src/wire/topology.ts';
import { aPlanOf } from '../../support/planned-tasks.ts';

/** A topology of Heron's Java instances, whose components are serialized objects. */
const definition = StoredTopology.decode(
  readFileSync(new URL('../../golden/topology/jacked.bin', import.meta.url)),
);

type Config = NonNullable<TopologyMessage['topologyConfig']>;

function setting(config: Config, key: string, value: string): Config {
  const [example] = config.kvs;
  assert.ok(example !== undefined);
  return { ...config, kvs: [...config.kvs, { ...example, key, value }] };
}

/** What Heron's master keeps of it: no objects, but what was changed while it ran. */
function trimmed(): TopologyMessage {
  const paused = withState(definition, 'PAUSED');
  assert.ok(paused.topologyConfig !== undefined);
  return {
    ...paused,
    topologyConfig: setting(paused.topologyConfig, 'some.key:runtime', 'new'),
    bolts: paused.bolts.map((bolt) => {
      assert.ok(bolt.comp?.config !== undefined);
      const { serializedObject: _, ...comp } = bolt.comp;
      return { ...bolt, comp: { ...comp, config: setting(bolt.comp.config, 'k:runtime', '7') } };
    }) as TopologyMessage['bolts'],
  };
}

describe('hydratePlan', () => {
  const received = trimmed();
  const plan = physicalPlanToMessage(aPlanOf(topologyFromMessage(definition)), received);
  const hydrated = hydratePlan(plan, definition).topology;

  it('takes the objects of the components from the definition', () => {
    assert.ok(hydrated !== undefined && hydrated.bolts.length > 0);
    for (const [index, { comp }] of hydrated.bolts.entries()) {
      assert.ok(comp !== undefined && comp.serializedObject.length > 0);
      assert.deepEqual(comp.serializedObject, definition.bolts[index]?.comp?.serializedObject);
    }
  });

  it('keeps state and run-time settings of the plan', () => {
    assert.equal(hydrated?.state, received.state);
    const keys = hydrated?.topologyConfig?.kvs.map(({ key }) => key) ?? [];
    assert.ok(keys.includes('some.key:runtime'));
    const settings = hydrated?.bolts[0]?.comp?.config?.kvs ?? [];
    assert.ok(settings.some(({ key, value }) => key === 'k:runtime' && value === '7'));
  });

  it('can be sent and read like any plan', () => {
    const again = hydratePlan(plan, definition);
    assert.equal(physicalPlanFromMessage(again).topology.state, 'PAUSED');
    assert.ok(hydrated !== undefined && StoredTopology.encode(hydrated).length > 0);
  });

  it('changes nothing where nothing was set while the topology ran', () => {
    const asSubmitted = physicalPlanToMessage(aPlanOf(topologyFromMessage(definition)), definition);
    const topology = hydratePlan(asSubmitted, definition).topology;
    assert.ok(topology !== undefined);
    assert.deepEqual(StoredTopology.encode(topology), StoredTopology.encode(definition));
  });
});
