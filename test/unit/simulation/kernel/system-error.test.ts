import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemError } from '../../../../src/simulation/kernel/system-error.ts';

describe('a simulated system error', () => {
  it("has the shape of Node's own", () => {
    const error = systemError('ENOENT', 'rename', '/a', '/b');
    assert.ok(error instanceof Error);
    assert.deepEqual({ ...error }, { code: 'ENOENT', syscall: 'rename', path: '/a' });
    assert.equal(error.message, "ENOENT: no such file or directory, rename '/a' -> '/b'");
  });

  it('carries no stack, and leaves those of other errors alone', () => {
    const error = systemError('EIO', 'open', '/a');
    assert.equal(error.stack, "Error: EIO: i/o error, open '/a'");
    assert.match(new Error('other').stack ?? '', /\n {4}at /);
  });
});
