import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { common, type Perform, PLACE, TOPOLOGY } from '../command-options.ts';

/* `heron explore …`, as it can be written: the commands of heron-explorer. */

const COMPONENT_TYPES = ['all', 'spouts', 'bolts'] as const;

export function addExplore(program: Command, perform: Perform): void {
  const explore = program
    .command('explore')
    .description('look at clusters, topologies and their plans, through a Tracker too')
    .helpCommand(false);
  tracked(explore.command('clusters'))
    .description('name the clusters')
    .action(({ trackerUrl, ...options }) =>
      perform(options, async (context) => {
        const { exploreClusters } = await import('../commands/explore.ts');
        return exploreClusters({ trackerUrl }, context);
      }),
    );
  tracked(explore.command('topologies'))
    .description('name the topologies of a place')
    .argument('<place>', PLACE)
    .action((place, { trackerUrl, ...options }) =>
      perform(options, async (context) => {
        const { exploreTopologies } = await import('../commands/explore.ts');
        return exploreTopologies({ place, trackerUrl }, context);
      }),
    );
  addLogicalPlan(explore, perform);
  addPhysicalPlan(explore, perform);
}

function addLogicalPlan(explore: Command, perform: Perform): void {
  tracked(explore.command('logical-plan'))
    .description('show the components of a topology, and who reads whom')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .addOption(
      new Option('--component-type <type>', 'only spouts, or only bolts')
        .choices(COMPONENT_TYPES)
        .default('all' as const),
    )
    .action((place, name, { trackerUrl, componentType, ...options }) =>
      perform(options, async (context) => {
        const { exploreLogicalPlan } = await import('../commands/explore.ts');
        return exploreLogicalPlan({ place, name, trackerUrl, componentType }, context);
      }),
    );
}

function addPhysicalPlan(explore: Command, perform: Perform): void {
  const plan = explore
    .command('physical-plan')
    .description('show what runs of a topology, and where')
    .helpCommand(false);
  tracked(plan.command('metrics'))
    .description('show what each instance has done since the start')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .option('--component <name>', 'only instances of this component')
    .action((place, name, { trackerUrl, component, ...options }) =>
      perform(options, async (context) => {
        const { exploreMetrics } = await import('../commands/explore.ts');
        return exploreMetrics({ place, name, trackerUrl, component }, context);
      }),
    );
  tracked(plan.command('containers'))
    .description('show where containers run, and how much is in each')
    .argument('<place>', PLACE)
    .argument('<topology>', TOPOLOGY)
    .addOption(new Option('--id <number>', 'only this container').argParser(parseId))
    .action((place, name, { trackerUrl, id, ...options }) =>
      perform(options, async (context) => {
        const { exploreContainers } = await import('../commands/explore.ts');
        return exploreContainers({ place, name, trackerUrl, id }, context);
      }),
    );
}

function tracked(command: Command) {
  return common(command).addOption(
    new Option('--tracker-url <url>', 'ask this Tracker, ours or one of Heron').argParser(parseUrl),
  );
}

/** With a slash at its end, so that paths come after it and not in place of its last part. */
function parseUrl(text: string): URL {
  const url = URL.parse(text.endsWith('/') ? text : `${text}/`);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new InvalidArgumentError('A URL such as http://127.0.0.1:8888 is expected.');
}

function parseId(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('The number of a container is expected.');
}
