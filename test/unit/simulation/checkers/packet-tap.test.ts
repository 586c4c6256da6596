import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PacketTap } from '../../../../src/simulation/checkers/packet-tap.ts';
import { encodePacket, NO_REQUEST_ID } from '../../../../src/wire/frame.ts';

function aTap() {
  const seen: string[] = [];
  const tap = new PacketTap({
    onPacket: (packet, { from, to }, atMs) =>
      seen.push(`${atMs} ${from} → ${to} ${packet.typeName} ${packet.payload.join(' ')}`),
    onConnectionEnd: (connection, atMs) => seen.push(`${atMs} end of ${connection}`),
  });
  const bytes = (atMs: number, from: string, to: string, chunk: Uint8Array): void =>
    tap.observe({ kind: 'bytes', atMs, connection: 3, from, to, bytes: chunk });
  return { seen, tap, bytes };
}

const ONE = encodePacket('heron.One', NO_REQUEST_ID, Uint8Array.of(1, 2));
const TWO = encodePacket('heron.Two', NO_REQUEST_ID, Uint8Array.of(3));

test('packets are put together wherever the bytes were cut, by the process that is meant', () => {
  const all = Buffer.concat([ONE, TWO]);
  for (let cut = 1; cut < all.length; cut += 1) {
    const { seen, bytes } = aTap();
    const chunk = Buffer.from(all.subarray(0, cut));
    bytes(1, 'container_1_a_1/gateway', 'stmgr-1', chunk);
    chunk.fill(0); // The memory is somebody else's.
    bytes(2, 'container_1_a_1/gateway', 'stmgr-1', all.subarray(cut));
    assert.match(seen[0] ?? '', /^[12] container_1_a_1 → stmgr-1 heron.One 1 2$/);
    assert.equal(seen[1], '2 container_1_a_1 → stmgr-1 heron.Two 3');
  }
});

test('the two directions of a connection do not mix', () => {
  const { seen, bytes } = aTap();
  bytes(1, 'a', 'b', ONE.subarray(0, 9));
  bytes(2, 'b', 'a', TWO);
  bytes(3, 'a', 'b', ONE.subarray(9));
  assert.deepEqual(seen, ['2 b → a heron.Two 3', '3 a → b heron.One 1 2']);
});

test('what is no packet is left alone until the connection ends', () => {
  const { seen, tap, bytes } = aTap();
  bytes(1, 'a', 'b', Buffer.from('POST /activate HTTP/1.1\r\nhost: a\r\n\r\n'));
  bytes(2, 'a', 'b', ONE);
  tap.observe({ kind: 'connection-end', atMs: 3, connection: 3 });
  bytes(4, 'a', 'b', TWO);
  assert.deepEqual(seen, ['3 end of 3', '4 a → b heron.Two 3']);
});
