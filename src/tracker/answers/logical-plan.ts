import { z } from '@hono/zod-openapi';
import { assertDefined } from '../../base/assert.ts';
import * as proto from '../../wire/generated/topology_pb.js';
import type { TopologyMessage } from '../../wire/topology.ts';
import { type ExtraLink, filledLink, type LinkValues } from '../extra-links.ts';
import type { TopologyView } from '../state/topology-view.ts';
import { linkSchema } from './execution-state.ts';
import { stagesOf } from './stages.ts';
import { configOf, configSchema, type ShownConfig } from './stored-config.ts';

/* Components and the streams between them, in Heron's words. */

const outputSchema = z.object({ stream_name: z.string() });

const spoutSchema = z.object({
  config: configSchema,
  spout_type: z.string(),
  spout_source: z.string(),
  version: z.string(),
  outputs: z.array(outputSchema),
  extra_links: z.array(linkSchema),
});

const boltSchema = z.object({
  config: configSchema,
  outputs: z.array(outputSchema),
  inputs: z.array(
    z.object({ stream_name: z.string(), component_name: z.string(), grouping: z.string() }),
  ),
  inputComponents: z.array(z.string()),
});

export const logicalPlanSchema = z.object({
  spouts: z.record(z.string(), spoutSchema),
  bolts: z.record(z.string(), boltSchema),
  stages: z
    .number()
    .nullable()
    .openapi({ description: 'components on the longest way; null: the bolts form a cycle' }),
});

export type LogicalPlan = z.output<typeof logicalPlanSchema>;

export function logicalPlanOf(view: TopologyView): LogicalPlan {
  const message = view.messages.physicalPlan?.topology ?? view.messages.topology;
  if (message === undefined) return { spouts: {}, bolts: {}, stages: 0 };
  const values: LinkValues = {
    cluster: view.cluster,
    environ: view.environ,
    topology: view.name,
    role: view.role,
    user: view.messages.execution?.submissionUser ?? '',
  };
  const spouts = message.spouts.map((spout) => [nameOf(spout), spoutOf(spout, values)] as const);
  const bolts = message.bolts.map((bolt) => [nameOf(bolt), boltOf(bolt)] as const);
  return {
    spouts: Object.fromEntries(spouts),
    bolts: Object.fromEntries(bolts),
    stages: stageCount(view),
  };
}

function stageCount({ topology }: TopologyView): number | null {
  const components = topology?.components ?? [];
  const stages = stagesOf(components);
  return stages.size < components.length ? null : Math.max(0, ...stages.values());
}

type SpoutMessage = TopologyMessage['spouts'][number];
type BoltMessage = TopologyMessage['bolts'][number];

function nameOf({ comp }: SpoutMessage | BoltMessage): string {
  return assertDefined(comp, 'decode has checked required fields').name;
}

function spoutOf(spout: SpoutMessage, values: LinkValues): z.output<typeof spoutSchema> {
  const config = configOf(spout.comp?.config);
  return {
    config,
    spout_type: textIn(config, 'spout.type', 'default'),
    spout_source: textIn(config, 'spout.source', 'NA'),
    version: textIn(config, 'spout.version', 'NA'),
    outputs: outputsOf(spout),
    extra_links: linksIn(config, values),
  };
}

function boltOf(bolt: BoltMessage): z.output<typeof boltSchema> {
  const inputs = bolt.inputs.map(({ stream, gtype }) => ({
    stream_name: stream?.id ?? '',
    component_name: stream?.componentName ?? '',
    grouping: proto.Grouping[gtype],
  }));
  return {
    config: configOf(bolt.comp?.config),
    outputs: outputsOf(bolt),
    inputs,
    inputComponents: [...new Set(inputs.map((input) => input.component_name))],
  };
}

function outputsOf({ outputs }: SpoutMessage | BoltMessage) {
  return outputs.map(({ stream }) => ({ stream_name: stream?.id ?? '' }));
}

function textIn(config: ShownConfig, key: string, otherwise: string): string {
  return key in config ? String(config[key]) : otherwise;
}

const templates = z.array(z.object({ name: z.string(), formatter: z.string() }));

/** Of the author's own writing: whatever is no link to a page is left out. */
function linksIn(config: ShownConfig, values: LinkValues): ExtraLink[] {
  const text = textIn(config, 'extra.links', '[]');
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch {
    return [];
  }
  const read = templates.safeParse(written);
  const links = read.success ? read.data.map((link) => filledLink(link, values)) : [];
  return links.filter(({ url }) => /^https?:\/\//i.test(url));
}
