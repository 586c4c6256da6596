import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HERON_SETTING_PATTERNS, heronSetting } from '../../../src/model/heron-settings.ts';
import { isSettingKey, SETTING_KEYS } from '../../../src/model/settings.ts';

test('no setting is ours and not here at the same time', () => {
  assert.deepEqual(
    SETTING_KEYS.filter((key) => heronSetting(key) !== undefined),
    [],
  );
});

test('what has another name is one of ours', () => {
  for (const pattern of HERON_SETTING_PATTERNS) {
    const { fate, explanation = '' } = heronSetting(pattern) ?? {};
    const names = [...explanation.matchAll(/'([^']+)'/g)].map(([, name]) => name ?? '');
    assert.ok(names.every(isSettingKey), explanation);
    if (fate === 'moved') assert.notDeepEqual(names, [], pattern);
  }
});

test('a family is known by its beginning', () => {
  assert.equal(heronSetting('topology.kryo.factory')?.fate, 'meaningless');
  assert.equal(heronSetting('topology.kryo'), undefined);
  assert.equal(heronSetting('topology.bolts.window.length.count')?.fate, 'missing');
  assert.equal(heronSetting('my.topology.kryo.factory'), undefined);
  assert.equal(heronSetting('toString'), undefined);
});
