import type { ComponentName } from '../base/ids.ts';
import type { OUTPUTS } from './component.ts';
import type { StreamDeclarations } from './streams.ts';

/** A component of a topology under construction, to be read from by bolts. */
export class Source<Outputs extends StreamDeclarations> {
  /** What it emits; exists for the compiler only. */
  declare readonly [OUTPUTS]: Outputs;
  readonly name: ComponentName;
  /** For the builder: the one that it belongs to. */
  readonly owner: object;

  /** Sources are made by {@link TopologyBuilder} only. */
  constructor(owner: object, name: ComponentName) {
    this.owner = owner;
    this.name = name;
  }
}
