import { BasicBolt, type FailReason, Spout, topology, type Tuple } from '../../src/api/index.ts';
import type { BuiltTopology } from '../../src/api/topology.ts';
import type { TopologyContext } from '../../src/api/topology-context.ts';

/*
  Chains of a spout and a bolt each, `source-0` → `sink-0` and so on, that run at least once: for
  simulated clusters. Spouts emit at a steady pace, and at once again what has failed; how long the
  bolts take is up to the test at any time. What user code saw is collected outside of the
  simulated world.
*/

export interface PacedChainsOptions {
  readonly chains?: number;
  readonly everyMs?: number;
  readonly payloadBytes?: number;
  readonly containers?: number;
  readonly config?: Readonly<Record<string, string>>;
  /** Of the code of a task: it takes that long. */
  readonly spend: (task: number, ms: number) => void;
}

/** What one chain has done so far. */
export class Chain {
  emitted = 0;
  acked = 0;
  executed = 0;
  readonly fails: FailReason[] = [];
  /** How long the bolt takes for a tuple. */
  workMs = 0;
  /** At so many of the tuples to come the bolt throws. */
  throws = 0;
}

export class PacedChains {
  readonly chains: readonly Chain[];
  readonly built: BuiltTopology;

  constructor(options: PacedChainsOptions) {
    const { chains = 1, containers = 2, config = {} } = options;
    this.chains = Array.from({ length: chains }, () => new Chain());
    this.built = topology('paced-chains', (builder) => {
      builder.setConfig({
        'topology.stmgrs': containers,
        'topology.reliability.mode': 'ATLEAST_ONCE',
        ...config,
      });
      for (const [index, chain] of this.chains.entries()) {
        const Source = spoutClass(chain, options);
        const source = builder.setSpout(`source-${index}`, () => new Source());
        builder.setBolt(`sink-${index}`, () => boltOf(chain, options)).shuffleGrouping(source);
      }
    }).build();
  }

  /** The only chain, or the first one. */
  get chain(): Chain {
    const [first] = this.chains;
    if (first === undefined) throw new Error('there is a chain');
    return first;
  }
}

const PAYLOAD_BYTES = 100;

function spoutClass(
  chain: Chain,
  { everyMs = 10, payloadBytes = PAYLOAD_BYTES }: PacedChainsOptions,
) {
  return class Source extends Spout.of({ default: ['payload'] }) {
    readonly #payload = new Uint8Array(payloadBytes);
    readonly #again: number[] = [];
    #next = 0;
    #isDue = true;
    #context: TopologyContext | undefined;

    override open(context: TopologyContext): void {
      this.#context = context;
    }

    nextTuple(): void {
      const again = this.#again.shift();
      if (again !== undefined) this.#emit(again);
      else if (this.#isDue) {
        this.#isDue = false;
        this.#context?.clock.after(everyMs, () => {
          this.#isDue = true;
          this.#context?.wake();
        });
        this.#next += 1;
        this.#emit(this.#next);
      }
    }

    override ack(): void {
      chain.acked += 1;
    }

    override fail(messageId: unknown, reason: FailReason): void {
      chain.fails.push(reason);
      this.#again.push(Number(messageId));
    }

    #emit(messageId: number): void {
      this.emit([this.#payload], messageId);
      chain.emitted += 1;
    }
  };
}

function boltOf(chain: Chain, { spend }: PacedChainsOptions): BasicBolt {
  class Sink extends BasicBolt {
    #task = -1;

    override prepare(context: TopologyContext): void {
      this.#task = context.taskId;
    }

    execute(_tuple: Tuple): void {
      chain.executed += 1;
      if (chain.workMs > 0) spend(this.#task, chain.workMs);
      if (chain.throws === 0) return;
      chain.throws -= 1;
      throw new Error('poison');
    }
  }
  return new Sink();
}
