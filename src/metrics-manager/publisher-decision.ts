import { isSameSecret } from '../base/secret.ts';
import { isForeignTopology } from '../model/foreign-topology.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';

export interface PublisherFacts {
  readonly component: string;
  /** Undefined when absent, as in registrations of Heron's own processes. */
  readonly token: string | undefined;
  /** The connection has a publisher already. */
  readonly isRegistered: boolean;
  readonly topology: LogicalTopology;
  readonly ownToken: string;
}

/** Pure: why a process may not publish, or undefined when it may. */
export function publisherRefusal(facts: PublisherFacts): string | undefined {
  if (facts.isRegistered) return 'there is a publisher on this connection already';
  const isTrusted =
    facts.token === undefined
      ? isForeign(facts.component, facts.topology)
      : isSameSecret(facts.token, facts.ownToken);
  return isTrusted ? undefined : "NOT_AUTHORIZED: the token is not the topology's";
}

/** Another engine's instances know no token; nor do its own processes, where it runs them all. */
function isForeign(name: string, topology: LogicalTopology): boolean {
  const component = topology.components.find((candidate) => candidate.name === name);
  return component === undefined
    ? isForeignTopology(topology)
    : component.language !== 'typescript';
}
