import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { CommitLine, type Place } from '../../../src/api/commit-line.ts';

/** What the line says it does, the slow way. */
class ModelLine {
  readonly places: Place<string>[] = [];

  get settledRun(): number {
    const gap = this.places.findIndex(({ isSettled }) => !isSettled);
    return gap < 0 ? this.places.length : gap;
  }
}

test('the committable position is that of the last message before the first gap', () => {
  const steps = fc.array(
    fc.oneof(
      { weight: 20, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.constant(500) },
      { weight: 20, arbitrary: fc.record({ settle: fc.nat() }) },
    ),
    { maxLength: 600 },
  );
  fc.assert(
    fc.property(steps, (script) => {
      const line = new CommitLine<string>();
      const model = new ModelLine();
      for (const step of script) {
        if (typeof step === 'number') {
          for (let added = 0; added < step; added += 1) {
            // Not in the order of the positions' values: nothing compares them.
            const place = { position: `at ${(model.places.length * 7) % 5}`, isSettled: false };
            line.add(place);
            model.places.push(place);
          }
        } else if (model.places.length > 0) {
          const before = model.settledRun;
          const moved = line.settle(
            model.places[step.settle % model.places.length] as Place<string>,
          );
          assert.equal(moved, model.settledRun > before);
        }
        assert.equal(line.committable, model.places[model.settledRun - 1]?.position);
        assert.equal(line.length, model.places.length - model.settledRun);
      }
    }),
  );
});

test('a line of many messages that are settled from behind moves once', () => {
  const line = new CommitLine<number>();
  const places = Array.from({ length: 100_000 }, (_, position) => ({ position, isSettled: false }));
  for (const place of places) line.add(place);
  assert.equal(line.length, 100_000);
  const moves = places.toReversed().filter((place) => line.settle(place));
  assert.deepEqual(moves, [places[0]]);
  assert.equal(line.committable, 99_999);
  assert.equal(line.length, 0);
});
