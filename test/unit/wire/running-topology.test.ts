import assert from 'node:assert/strict';
import { test } from 'node:test';
import { componentName } from '../../../src/base/ids.ts';
import type { RuntimeChange } from '../../../src/model/runtime-config.ts';
import { StoredTopology } from '../../../src/wire/messages.ts';
import { withParallelism, withRuntimeConfig } from '../../../src/wire/running-topology.ts';
import { topologyFromMessage, topologyToMessage } from '../../../src/wire/topology.ts';
import { goldenFolder } from '../../support/golden.ts';
import { aTopology } from '../../support/topologies.ts';

const TOPOLOGY = aTopology(undefined, { mine: '1' });

const change = (component: string | undefined, key: string, value: string): RuntimeChange => ({
  component: component === undefined ? undefined : componentName(component),
  key,
  value,
});

test('changed config stands beside the submitted one, where it belongs', () => {
  const message = topologyToMessage(TOPOLOGY);
  const changed = withRuntimeConfig(message, [
    change(undefined, 'mine', '2'),
    change('count', 'lines', '7'),
  ]);
  const { config, components } = topologyFromMessage(changed);
  assert.deepEqual(
    config,
    new Map([
      ['mine', '1'],
      ['mine:runtime', '2'],
    ]),
  );
  const configs = Object.fromEntries(components.map(({ name, config: own }) => [name, own]));
  assert.deepEqual(configs, {
    sentences: new Map(),
    split: new Map(),
    count: new Map([['lines:runtime', '7']]),
  });
  assert.deepEqual(topologyFromMessage(message), TOPOLOGY);
});

test('the same change again is the same message, another value takes its place', () => {
  const once = withRuntimeConfig(topologyToMessage(TOPOLOGY), [change(undefined, 'mine', '2')]);
  assert.equal(withRuntimeConfig(once, [change(undefined, 'mine', '2')]), once);
  const twice = withRuntimeConfig(once, [change(undefined, 'mine', '3')]);
  const { config } = topologyFromMessage(twice);
  assert.deepEqual([...config.keys()], ['mine', 'mine:runtime']);
  assert.equal(config.get('mine:runtime'), '3');
});

test('another number of tasks changes nothing else', () => {
  const message = topologyToMessage(TOPOLOGY);
  const same = new Map([[componentName('split'), 1]]);
  assert.equal(withParallelism(message, same), message);
  const more = withParallelism(message, new Map([[componentName('split'), 4]]));
  const expected = TOPOLOGY.components.map((component) =>
    component.name === 'split' ? { ...component, parallelism: 4 } : component,
  );
  assert.deepEqual(topologyFromMessage(more), { ...TOPOLOGY, components: expected });
});

test('what the model does not hold of a foreign topology stays', () => {
  const [file] = goldenFolder('state').filter(({ name }) => name.includes('accepted-topologies'));
  const message = StoredTopology.decode(file?.bytes ?? assert.fail());
  const { components } = topologyFromMessage(message);
  const { name, parallelism } = components[0] ?? assert.fail();
  const more = withParallelism(message, new Map([[name, parallelism + 1]]));
  const back = withParallelism(more, new Map([[name, parallelism]]));
  assert.notDeepEqual(StoredTopology.encode(more), StoredTopology.encode(message));
  assert.deepEqual(StoredTopology.encode(back), StoredTopology.encode(message));
});
