import { Spout } from '../../src/api/spout.ts';
import type { TopologyContext } from '../../src/api/topology-context.ts';
import type { FailReason } from '../../src/model/fail-reason.ts';
import { type TestAck, TrackedTask } from './tracked-task.ts';

/** Writes down its calls; emits what waits, and fails are put back in front when it replays. */
export class Source extends Spout.of({ default: ['word'] }) {
  readonly calls: string[] = [];
  readonly reasons: FailReason[] = [];
  waiting: string[] = [];
  context: TopologyContext | undefined;
  replays = false;
  endsWhenEmpty = false;
  onSettled: (what: string) => unknown = () => undefined;

  override open(context: TopologyContext): void {
    this.context = context;
  }
  override nextTuple(): unknown {
    return this.next();
  }
  next: () => unknown = () => {
    this.calls.push('nextTuple');
    const id = this.waiting.shift();
    if (id !== undefined) this.emit([`w${id}`], id);
    else if (this.endsWhenEmpty) this.endOfInput();
  };
  override deactivate(): void {
    this.calls.push('deactivate');
  }
  override activate(): void {
    this.calls.push('activate');
  }
  override ack(messageId: unknown): void | Promise<void> {
    this.calls.push(`ack ${String(messageId)}`);
    return this.onSettled('ack') as undefined;
  }
  override fail(messageId: unknown, reason: FailReason): void | Promise<void> {
    this.calls.push(`fail ${String(messageId)} ${reason.kind}`);
    this.reasons.push(reason);
    if (this.replays) this.waiting.push(String(messageId));
    return this.onSettled('fail') as undefined;
  }

  /** What it was told since the last time. */
  takeTold(): string[] {
    const told = this.calls.filter((call) => /^(ack|fail)/.test(call));
    this.calls.length = 0;
    return told;
  }
}

export function aTrackedSpout(
  waiting: readonly string[],
  config: Readonly<Record<string, string>> = {},
) {
  const spout = new Source();
  spout.waiting = [...waiting];
  return { spout, task: new TrackedTask(spout, { component: 'source', config }) };
}

/** An entry for what a stream manager says, of a tree of `source`. */
export const ofTree = (key: bigint): TestAck => ({ key });
