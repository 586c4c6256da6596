/*
  node test/simulation/defects/find-seeds.ts [<part of a defect's name>] [<how many>] [<from seed>]

  Which of the pinned seeds find the defects, for pinning them anew when workloads have changed.
*/

import { ACK_DEFECTS } from './ack-defects.ts';
import { CONTROL_DEFECTS } from './control-defects.ts';
import { CHANGE_DEFECTS } from './change-defects.ts';
import { DATA_DEFECTS } from './data-defects.ts';
import { PROCESS_DEFECTS } from './process-defects.ts';
import { isFound, problemsWith } from './test-defects.ts';

const PINNED_SEEDS = 200;
const WANTED = 2;

const [name = '', wanted = WANTED, from = 1] = process.argv.slice(2);
const all = [
  ...DATA_DEFECTS,
  ...CONTROL_DEFECTS,
  ...PROCESS_DEFECTS,
  ...ACK_DEFECTS,
  ...CHANGE_DEFECTS,
];
for (const defect of all) {
  if (!defect.name.includes(name)) continue;
  const found: number[] = [];
  for (let seed = Number(from); seed <= PINNED_SEEDS && found.length < Number(wanted); seed += 1) {
    if (isFound(defect, await problemsWith(defect, seed))) found.push(seed);
  }
  process.stdout.write(`${defect.name}: ${found.join(', ')}\n`);
}
