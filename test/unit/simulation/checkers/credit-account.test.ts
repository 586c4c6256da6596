import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskId } from '../../../../src/base/ids.ts';
import { CreditAccount } from '../../../../src/simulation/checkers/credit-account.ts';

const anAccount = () => new CreditAccount({ from: 'stmgr-1', to: 'stmgr-2', task: taskId(3) });

test('what is consumed is owed until it is granted', () => {
  const account = anAccount();
  account.arrived(100);
  assert.equal(account.isOverdue(1000, 10), false);
  account.consumed(60, 1000);
  assert.equal(account.isOverdue(1010, 10), false);
  assert.equal(account.isOverdue(1011, 10), true);
  assert.equal(account.granted(50, 1012), 0);
  assert.equal(account.isOverdue(1022, 10), false);
  assert.equal(account.isOverdue(1023, 10), true);
  assert.equal(account.granted(15, 1024), 5);
  assert.equal(account.isOverdue(9999, 10), false);
});

test('what came over a link that broke is owed to nobody, what comes over the next one is', () => {
  const account = anAccount();
  account.arrived(100);
  account.consumed(30, 0);
  account.linkBroke();
  assert.equal(account.isOverdue(9000, 10), false);
  account.arrived(50);
  account.consumed(70, 9000);
  assert.equal(account.isOverdue(9999, 10), false);
  account.consumed(1, 9000);
  assert.equal(account.isOverdue(9999, 10), true);
});
