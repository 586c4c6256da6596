import type { OutputStream } from '../model/logical-topology.ts';
import type { BasicBolt } from './basic-bolt.ts';
import type { Bolt } from './bolt.ts';
import type { Collector } from './collector.ts';
import {
  type Component,
  type ComponentKind,
  EMITTER,
  KIND,
  OUTPUTS,
  REPLAYS,
} from './component.ts';
import { StreamEmitter } from './emitter.ts';
import type { Spout } from './spout.ts';
import { type StreamDeclarations, toOutputStreams } from './streams.ts';
import type { TopologyContext } from './topology-context.ts';

/*
  The engine's side of the API: not exported to users. An instance makes its component by the
  factory, attaches it to a collector, and then calls its methods in this order:

    spout   open → activate? → (nextTuple | ack | fail | replay | deactivate | activate)* → close
    bolt    prepare → execute* → finish → cleanup
*/

export type { Collector } from './collector.ts';
export type { GivenUpMessage } from './given-up-message.ts';
export type { LetterToReplay } from './letter-to-replay.ts';
export type { ComponentKind } from './component.ts';

/** Compared member by member: as a class, with streams in parameters, no other would fit it. */
type Members<Class> = Pick<Class, keyof Class>;

export type AnySpout = Members<Spout<StreamDeclarations>>;
export type AnyBolt = Members<Bolt<StreamDeclarations>> | Members<BasicBolt<StreamDeclarations>>;
export type AnyComponent = AnySpout | AnyBolt;

/** Makes one component; called once for each task, and once at submit to look at it. */
export type ComponentFactory = () => AnyComponent;

/** What a value is as a component, or undefined when it is none. Takes a class or an instance. */
export function kindOf(value: unknown): ComponentKind | undefined {
  const kind: unknown = prototypeOf(value)?.[KIND];
  return kind === 'spout' || kind === 'bolt' || kind === 'basic-bolt' ? kind : undefined;
}

export function isSpout(component: AnyComponent): component is AnySpout {
  return component[KIND] === 'spout';
}

export function isBolt(component: AnyComponent): component is AnyBolt {
  return component[KIND] !== 'spout';
}

/**
 * The streams that a component declares, in order: the position of a stream is the `streamIndex`
 * that the collector is given. Takes a class or an instance.
 *
 * @throws EngineError INVALID_TOPOLOGY when the declaration is not one.
 */
export function streamsOf(component: object): readonly OutputStream[] {
  const outputs = prototypeOf(component)?.[OUTPUTS];
  return outputs === undefined ? [] : toOutputStreams(outputs);
}

/** True when its base class sees to it that no message is lost. Takes a class or an instance. */
export function replaysByItself(component: object): boolean {
  return prototypeOf(component)?.[REPLAYS] === true;
}

/** Connects a component to the instance that runs it; before its `open` or `prepare`. */
export function attach(
  component: AnyComponent,
  collector: Collector,
  context: TopologyContext,
): void {
  component[EMITTER] = new StreamEmitter(context.componentName, streamsOf(component), collector);
}

type Marked = Partial<Pick<Component, typeof KIND | typeof OUTPUTS>> & {
  readonly [REPLAYS]?: unknown;
};

/** Where the marks are found: a class has them on its prototype, an instance inherits them. */
function prototypeOf(value: unknown): Marked | undefined {
  if (typeof value === 'function') return value.prototype as Marked | undefined;
  return typeof value === 'object' && value !== null ? value : undefined;
}
