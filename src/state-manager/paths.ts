import type { ContainerId, TopologyId, TopologyName } from '../base/ids.ts';

/*
  Every path of the state tree. The first group is Heron's own layout (each node is one protobuf
  message); the second is ours alone, kept apart so that Heron's Tracker never lists it.
*/

const OWN = '.heron-ts';

export const paths = {
  topologies: 'topologies',
  topology: (name: TopologyName) => `topologies/${name}`,
  packingPlan: (name: TopologyName) => `packingplans/${name}`,
  executionStates: 'executionstate',
  executionState: (name: TopologyName) => `executionstate/${name}`,
  topologyMaster: (name: TopologyName) => `tmanagers/${name}`,
  metricsCache: (name: TopologyName) => `metricscaches/${name}`,
  physicalPlan: (name: TopologyName) => `pplans/${name}`,
  scheduler: (name: TopologyName) => `schedulers/${name}`,

  /** The secret that processes of one topology show each other. Text. */
  token: (name: TopologyName) => `${OWN}/tokens/${name}`,
  /** Folder of the reports of a topology's executors, one node a container. JSON. */
  containers: (name: TopologyName) => `${OWN}/containers/${name}`,
  container: (name: TopologyName, id: ContainerId) => `${OWN}/containers/${name}/${id}`,
  /** There from the wish that a topology be drained until its end. JSON. */
  drain: (name: TopologyName) => `${OWN}/drains/${name}`,
  /** Folder of what executors were last asked to restart, one node a container. JSON. */
  restarts: (name: TopologyName) => `${OWN}/restarts/${name}`,
  restart: (name: TopologyName, id: ContainerId) => `${OWN}/restarts/${name}/${id}`,
  /** The last epoch that was given for a topology id; deleted last of all its nodes. Text. */
  epoch: (id: TopologyId) => `${OWN}/epochs/${id}`,
  /** Held by a command that changes what the topology is; ephemeral, text for people. */
  command: (name: TopologyName) => `${OWN}/commands/${name}`,
  /** There from a submit's first write until somebody was told that the topology runs. JSON. */
  submit: (name: TopologyName) => `${OWN}/submits/${name}`,
  /** Made and removed by a command that tries the store out; ephemeral, text for people. */
  probe: (prober: string) => `${OWN}/probes/${prober}`,
  /** Left behind by a topology whose input ended. JSON. */
  completedTopologies: `${OWN}/completed`,
  completed: (name: TopologyName) => `${OWN}/completed/${name}`,
} as const;
