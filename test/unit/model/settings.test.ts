import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EngineError } from '../../../src/base/errors.ts';
import {
  backPressureMarks,
  configProblems,
  configWarnings,
  nearestKnownKey,
  parseSetting,
  SETTING_KEYS,
  SETTINGS,
  type SettingKey,
  Settings,
  settingConflicts,
} from '../../../src/model/settings.ts';

function config(entries: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(entries));
}

test('a setting that nobody gave has its default', () => {
  const settings = new Settings();
  assert.equal(settings.get('topology.stmgrs'), 1);
  assert.equal(settings.get('topology.enable.message.timeouts'), true);
  assert.equal(settings.get('topology.reliability.mode'), 'ATMOST_ONCE');
  assert.equal(settings.get('topology.container.ram'), undefined);
});

test('every default is a value that could have been written', () => {
  for (const key of SETTING_KEYS) {
    const { type, default: value } = SETTINGS[key];
    if (value !== undefined) assert.deepEqual(type.parse(String(value)), value, key);
  }
});

test('the last layer that has a key wins, and keys of users pass as text', () => {
  const settings = new Settings(
    config({ 'topology.stmgrs': '2', 'words.file': 'a.txt', 'topology.debug': 'true' }),
    config({ 'topology.stmgrs': '3' }),
  );
  assert.equal(settings.get('topology.stmgrs'), 3);
  assert.equal(settings.get('topology.debug'), true);
  assert.equal(settings.text('words.file'), 'a.txt');
  assert.equal(settings.text('words.folder'), undefined);
});

test('a layer that changes later is read as it is then', () => {
  const layer = new Map<string, string>();
  const settings = new Settings(layer);
  layer.set('topology.stmgrs', '4');
  assert.equal(settings.get('topology.stmgrs'), 4);
});

const WRONG: readonly (readonly [SettingKey, string, string])[] = [
  ['topology.stmgrs', 'x', "topology.stmgrs: expected a whole number from 1 to 100000, got 'x'"],
  ['topology.stmgrs', '0', "topology.stmgrs: expected a whole number from 1 to 100000, got '0'"],
  ['topology.stmgrs', '', "topology.stmgrs: expected a whole number from 1 to 100000, got ''"],
  [
    'topology.stmgrs',
    '1.5',
    "topology.stmgrs: expected a whole number from 1 to 100000, got '1.5'",
  ],
  [
    'topology.stmgrs',
    '0x10',
    "topology.stmgrs: expected a whole number from 1 to 100000, got '0x10'",
  ],
  [
    'topology.key.groups',
    '65537',
    "topology.key.groups: expected a whole number from 1 to 65536, got '65537'",
  ],
  ['topology.debug', 'yes', "topology.debug: expected 'true' or 'false', got 'yes'"],
  [
    'topology.reliability.mode',
    'EFFECTIVELY_ONCE',
    "topology.reliability.mode: expected 'ATMOST_ONCE' or 'ATLEAST_ONCE', got 'EFFECTIVELY_ONCE'",
  ],
  [
    'heron.streammgr.backpressure.lease.ms',
    '299',
    'heron.streammgr.backpressure.lease.ms: expected a whole number from 300 to 2147483647, ' +
      "got '299'",
  ],
  ['topology.name', ' ', "topology.name: expected a text that is not empty, got ' '"],
  ['topology.container.cpu', '-1', "topology.container.cpu: expected a number from 0, got '-1'"],
  [
    'topology.container.cpu',
    'Infinity',
    "topology.container.cpu: expected a number from 0, got 'Infinity'",
  ],
  [
    'topology.component.rammap',
    'a:1,a:2',
    "topology.component.rammap: expected 'component:value' pairs joined by commas, " +
      "each value a whole number from 1, got 'a:1,a:2'",
  ],
];

for (const [key, text, message] of WRONG) {
  test(`${key} refuses '${text}'`, () => {
    const expected = { code: 'INVALID_CONFIG', domain: 'user', message };
    assert.throws(() => new Settings(config({ [key]: text })).get(key), expected);
    assert.throws(() => parseSetting(key, text), EngineError);
    assert.deepEqual(configProblems(config({ [key]: text })), [message]);
  });
}

test('a wrong text is shown on one line and cut', () => {
  const text = `a\n\u0000b${'x'.repeat(10_240)}`;
  const [problem = ''] = configProblems(config({ 'topology.stmgrs': text }));
  assert.match(problem, /got 'a {2}bx+…'$/);
  assert.ok(problem.length < 200);
});

test('maps by component are read with spaces around their parts', () => {
  const settings = new Settings(
    config({ 'topology.component.cpumap': 'split:1.5, count : .5', 'topology.container.cpu': '2' }),
  );
  const expected = new Map([
    ['split', 1.5],
    ['count', 0.5],
  ]);
  assert.deepEqual(settings.get('topology.component.cpumap'), expected);
  assert.equal(settings.get('topology.container.cpu'), 2);
});

test('every part of a map by component must be right', () => {
  const key = 'topology.component.cpumap';
  for (const text of ['', ':1', 'a', 'a:', 'a:x', 'a:1:2', 'a:1,', 'a:-1']) {
    assert.throws(() => parseSetting(key, text), { code: 'INVALID_CONFIG' }, text);
  }
});

test('the ends of a range are in it', () => {
  assert.equal(parseSetting('topology.container.cpu', '0'), 0);
  assert.equal(parseSetting('topology.key.groups', '1'), 1);
  assert.equal(parseSetting('topology.key.groups', '65536'), 65_536);
  assert.equal(parseSetting('topology.name', 'words'), 'words');
});

test('waits stay below what a timer can hold', () => {
  const key = 'heron.shutdown.grace.ms';
  assert.equal(new Settings(config({ [key]: '2147483647' })).get(key), 2_147_483_647);
  assert.throws(() => new Settings(config({ [key]: '2147483648' })).get(key), EngineError);
});

test('settings that cannot both hold are named', () => {
  assert.deepEqual(settingConflicts(config({})), []);
  const tuple = { 'heron.instance.set.data.tuple.size.bytes': String(10 * 1024 * 1024) };
  assert.match(settingConflicts(config(tuple))[0] ?? '', /must fit into heron\.streammgr\.network/);
  const roomier = { ...tuple, 'heron.streammgr.network.options.maximum.packet.mb': '11' };
  assert.deepEqual(settingConflicts(config(roomier)), []);
  const largest = 10 * 1024 * 1024 - 64 * 1024;
  const fits = { 'heron.instance.set.data.tuple.size.bytes': String(largest) };
  assert.deepEqual(settingConflicts(config(fits)), []);
  const equal = { 'heron.executor.restart.backoff.min.ms': '10000' };
  assert.deepEqual(settingConflicts(config(equal)), []);
  const backoff = { 'heron.executor.restart.backoff.min.ms': '20000' };
  assert.match(settingConflicts(config(backoff))[0] ?? '', /20000 is above .* which is 10000/);
  // A wrong text has been reported by others.
  assert.deepEqual(settingConflicts(config({ ...backoff, 'topology.stmgrs': 'x' })), []);
});

test('a slip of the pen in a key of ours is found, a key of the user is left alone', () => {
  assert.equal(nearestKnownKey('topology.stmgr'), 'topology.stmgrs');
  assert.equal(nearestKnownKey('heron.shutdown.grase.ms'), 'heron.shutdown.grace.ms');
  assert.equal(nearestKnownKey('topology.stmgrs'), undefined);
  assert.equal(nearestKnownKey('my.topology.stmgrs'), undefined);
  assert.equal(nearestKnownKey('topology.bolts.window.sliding.interval.count'), undefined);
  assert.equal(nearestKnownKey(`topology.${'x'.repeat(10_240)}`), undefined);
});

test('a misspelt key is told with what was meant; keys of the author are not', () => {
  const written = config({
    'topology.stmgr': '2',
    'topology.stmgrs': '2',
    'my.own': '1',
    'topolgy.debug': 'true',
    'heron.nothing.of.the.kind': '1',
  });
  assert.deepEqual(configWarnings(written), [
    {
      key: 'topology.stmgr',
      message: "there is no setting 'topology.stmgr'; did you mean 'topology.stmgrs'?",
    },
    {
      key: 'topolgy.debug',
      message: "there is no setting 'topolgy.debug'; did you mean 'topology.debug'?",
    },
    {
      key: 'heron.nothing.of.the.kind',
      message:
        "there is no setting 'heron.nothing.of.the.kind'; " +
        "give keys of your own another beginning than 'topology.' and 'heron.'",
    },
  ]);
});

test("settings of Heron's that are not here are refused or warned of", () => {
  const written = config({
    'topology.component.output.bps': '1000',
    'topology.stateful.start.clean': ' false ',
    'topology.kryo.register': '[]',
  });
  assert.deepEqual(configProblems(written), [
    'topology.component.output.bps of Heron is about limits of output rates, ' +
      'which this engine does not have; remove it',
  ]);
  assert.deepEqual(configWarnings(written), [
    {
      key: 'topology.kryo.register',
      message:
        'topology.kryo.register of Heron has no meaning here: ' +
        'there is no Java virtual machine; it is passed over',
    },
  ]);
});

test('S04: a time-out of its own cannot hold when time-outs are off', () => {
  const off = { 'topology.enable.message.timeouts': 'false' };
  assert.deepEqual(settingConflicts(config(off)), []);
  // What clients of Heron write of themselves.
  assert.deepEqual(settingConflicts(config({ ...off, 'topology.message.timeout.secs': '30' })), []);
  assert.deepEqual(settingConflicts(config({ ...off, 'topology.message.timeout.secs': '60' })), [
    'topology.message.timeout.secs: a time-out of 60 s cannot hold while ' +
      'topology.enable.message.timeouts is false; remove one of the two',
  ]);
});

test('a stream manager must be heard more often than it is waited for', () => {
  const heartbeat = { 'heron.streammgr.tmanager.heartbeat.interval.ms': '10000' };
  assert.deepEqual(settingConflicts(config(heartbeat)), [
    'heron.streammgr.tmanager.heartbeat.interval.ms: 10000 is not below ' +
      'heron.tmanager.stmgr.state.timeout.ms, which is 10000',
  ]);
});

test("Heron's old switch for acks says what to set instead", () => {
  assert.deepEqual(configProblems(config({ 'topology.acking': 'false' })), []);
  assert.deepEqual(configProblems(config({ 'topology.acking': 'true' })), [
    "topology.acking of Heron is an old spelling; set 'topology.reliability.mode' to " +
      'ATLEAST_ONCE instead',
  ]);
});

const HIGH = 'heron.streammgr.backpressure.high.bytes';
const LOW = 'heron.streammgr.backpressure.low.bytes';
const CREDIT = 'heron.instance.credit.bytes';

test('the marks of back pressure follow what an instance may send, unless they are set', () => {
  const marks = (written: Readonly<Record<string, string>>) =>
    backPressureMarks(new Settings(config(written)));
  assert.deepEqual(marks({}), { highBytes: 524_288, lowBytes: 131_072 });
  assert.deepEqual(marks({ [CREDIT]: '4194304' }), { highBytes: 524_288, lowBytes: 131_072 });
  assert.deepEqual(marks({ [CREDIT]: '65536' }), { highBytes: 32_768, lowBytes: 8_192 });
  assert.deepEqual(marks({ [HIGH]: '262144' }), { highBytes: 262_144, lowBytes: 65_536 });
  assert.deepEqual(marks({ [LOW]: '65536' }), { highBytes: 524_288, lowBytes: 65_536 });
  for (const credit of ['65536', '100000', '4194304']) {
    assert.deepEqual(settingConflicts(config({ [CREDIT]: credit })), []);
  }
});

test('marks that cannot be reached, or that do not lie apart, are refused', () => {
  assert.deepEqual(settingConflicts(config({ [HIGH]: '1048576' })), []);
  assert.deepEqual(settingConflicts(config({ [HIGH]: '1048577' })), [
    `${HIGH}: 1048577 cannot be reached: what one instance may have sent ends at ${CREDIT}, ` +
      'which is 1048576',
  ]);
  assert.deepEqual(settingConflicts(config({ [HIGH]: '80000', [LOW]: '80000' })), [
    `${LOW}: 80000 is not below ${HIGH}, which is 80000`,
  ]);
  assert.deepEqual(settingConflicts(config({ [LOW]: '65536', [CREDIT]: '100000' })), [
    `${LOW}: 65536 is not below ${HIGH}, which is 50000`,
  ]);
});

test('where tuples are dropped no spout stops', () => {
  const dropping = { 'topology.droptuples.upon.backpressure': 'true' };
  assert.deepEqual(settingConflicts(config(dropping)), []);
  assert.deepEqual(
    settingConflicts(config({ ...dropping, 'topology.backpressure.scope': 'all' })),
    [
      "topology.backpressure.scope: 'all' stops spouts, but with " +
        'topology.droptuples.upon.backpressure tuples are dropped instead; remove one of the two',
    ],
  );
});

test('a first pause before a retry that is above the longest is refused', () => {
  assert.deepEqual(settingConflicts(config({ 'topology.retry.backoff.max.ms': '50' })), [
    'topology.retry.backoff.ms: 100 is above topology.retry.backoff.max.ms, which is 50',
  ]);
});

test("the engine's own mark of a component is no setting, and no slip either", () => {
  const written = config({ 'heron.component.replays': 'true' });
  assert.equal(configProblems(written).length, 1);
  assert.deepEqual(configWarnings(written), []);
});
