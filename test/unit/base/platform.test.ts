import assert from 'node:assert/strict';
import test from 'node:test';
import { platformProblem } from '../../../src/base/platform.ts';

test('Node 24 and newer on anything but Windows has no problem', () => {
  for (const version of ['24.0.0', '24.21.0', '26.1.0', '100.0.0']) {
    assert.equal(platformProblem(version, 'linux'), undefined);
    assert.equal(platformProblem(version, 'darwin'), undefined);
  }
});

test('the problem is one line that names what is needed', () => {
  assert.match(platformProblem('20.20.2', 'linux') ?? '', /^.*Node 24 or newer.*20\.20\.2$/);
  assert.match(platformProblem('9.0.0', 'linux') ?? '', /Node 24/);
  assert.match(platformProblem('24.0.0', 'win32') ?? '', /^.*Windows.*WSL.*$/);
});
