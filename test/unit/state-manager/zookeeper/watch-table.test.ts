import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasCode } from '../../../../src/base/errors.ts';
import { Chroot } from '../../../../src/state-manager/zookeeper/chroot.ts';
import { JuteReader } from '../../../../src/state-manager/zookeeper/jute-reader.ts';
import { JuteWriter } from '../../../../src/state-manager/zookeeper/jute-writer.ts';
import { WatchTable, type WatchKind } from '../../../../src/state-manager/zookeeper/watch-table.ts';

const KINDS: readonly WatchKind[] = ['data', 'absent', 'children'];

const event = (type: number, path: string): JuteReader =>
  new JuteReader(Buffer.from(new JuteWriter().int(type).int(3).string(path).frame().subarray(4)));

/** Three watchers of `/root/a`, one of each kind, and one of another node. */
function aTable() {
  const table = new WatchTable(new Chroot('/root'));
  const told: string[] = [];
  for (const kind of KINDS) {
    table.add(
      kind,
      '/root/a',
      ({ kind: what, path }) => void told.push(`${kind}: ${what} ${path}`),
    );
    table.add(kind, '/root/other', () => assert.fail('nothing happened to it'));
  }
  return { table, told };
}

const EVENTS = [
  { type: 1, what: 'created', concerns: ['data', 'absent'] },
  { type: 2, what: 'deleted', concerns: ['data', 'absent', 'children'] },
  { type: 3, what: 'changed', concerns: ['data', 'absent'] },
  { type: 4, what: 'children', concerns: ['children'] },
] as const;

for (const { type, what, concerns } of EVENTS) {
  test(`${what} is told to watches of ${concerns.join(', ')}, once`, () => {
    const { table, told } = aTable();
    table.tell(event(type, '/root/a'));
    table.tell(event(type, '/root/a'));
    assert.deepEqual(
      told,
      concerns.map((kind) => `${kind}: ${what} /a`),
    );
    const left = table.parts()[0];
    assert.ok(left);
    for (const kind of KINDS) {
      const isLeft = !(concerns as readonly WatchKind[]).includes(kind);
      assert.equal(left[kind].includes('/root/a'), isLeft, kind);
    }
  });
}

test('a watcher that was added twice, or for two things, is told once', () => {
  const table = new WatchTable(new Chroot());
  let told = 0;
  const watcher = (): void => void (told += 1);
  table.add('data', '/a', watcher);
  table.add('data', '/a', watcher);
  table.add('children', '/a', watcher);
  table.tell(event(2, '/a'));
  assert.equal(told, 1);
});

test('a watcher that watches again is not told of the same event', () => {
  const table = new WatchTable(new Chroot());
  let told = 0;
  const watcher = (): void => {
    told += 1;
    table.add('data', '/a', watcher);
  };
  table.add('data', '/a', watcher);
  table.tell(event(3, '/a'));
  assert.equal(told, 1);
  table.tell(event(3, '/a'));
  assert.equal(told, 2);
});

test('the end of the session is told to all, once', () => {
  const table = new WatchTable(new Chroot('/root'));
  const told: string[] = [];
  for (const kind of KINDS) {
    table.add(
      kind,
      '/root/a',
      ({ kind: what, path }) => void told.push(`${kind}: ${what} ${path}`),
    );
  }
  table.tellLost();
  table.tellLost();
  assert.deepEqual(told, ['data: lost /a', 'absent: lost /a', 'children: lost /a']);
});

test('nothing is armed again for nobody', () => {
  const table = new WatchTable(new Chroot());
  assert.deepEqual(table.parts(), []);
  table.add('data', '/a', () => assert.fail('it was cleared'));
  table.clear();
  table.tellLost();
  assert.deepEqual(table.parts(), []);
});

test('what is armed again comes in parts of 100 KB, each path once and by its kind', () => {
  const table = new WatchTable(new Chroot());
  const added = new Set<string>();
  for (const kind of KINDS) {
    for (let index = 0; index < 700; index += 1) {
      const path = `/${kind}-${index}-${'é'.repeat(index)}`;
      added.add(`${kind} ${path}`);
      table.add(kind, path, () => undefined);
    }
  }
  const parts = table.parts();
  const armed: string[] = [];
  for (const part of parts) {
    let bytes = 0;
    for (const kind of KINDS) {
      for (const path of part[kind]) {
        armed.push(`${kind} ${path}`);
        bytes += 4 + Buffer.byteLength(path);
      }
    }
    assert.ok(bytes > 0 && bytes <= 100 * 1024, `${bytes} bytes`);
  }
  assert.equal(armed.length, added.size);
  assert.deepEqual(new Set(armed), added);
  assert.ok(parts.length < 20, 'parts are filled');
});

test('an event of a type that we did not ask for is malformed', () => {
  assert.throws(
    () => new WatchTable(new Chroot()).tell(event(5, '/a')),
    (error) => hasCode(error, 'PACKET_MALFORMED'),
  );
});
