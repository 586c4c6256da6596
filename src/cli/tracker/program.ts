import { type Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { common, type Perform } from '../command-options.ts';

/* `heron tracker`, as it can be written: the flags of heron-tracker, and what it lacks. */

/** Heron's. */
const PORT_DEFAULT = 8888;

export function addTracker(program: Command, perform: Perform): void {
  common(program.command('tracker'))
    .description('serve what all topologies do, over HTTP')
    .addOption(
      new Option('--port <number>', 'where to listen; 0 takes a free one')
        .argParser(parsePort)
        .default(PORT_DEFAULT),
    )
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .addOption(
      new Option('--host-name <name>', 'a name that requests may call it by; may be repeated')
        .argParser((text: string, earlier: readonly string[]): readonly string[] => [
          ...earlier,
          text.toLowerCase(),
        ])
        .default([] as readonly string[], 'localhost and numbers'),
    )
    .option('--config-file <file>', "Heron's heron_tracker.yaml")
    .addOption(
      new Option('--type <type>', 'look at one state store only').choices(['file', 'zookeeper']),
    )
    .option('--name <name>', 'what to call that store')
    .option('--rootpath <path>', 'the folder or node that holds its tree')
    .option('--hostport <servers>', "ZooKeeper's servers, host:port,host:port")
    .option('--allow-actions', 'let whoever has a token change topologies, too', false)
    .option('--token-file <file>', 'a name and a token in each line; made where there is none')
    .option('--audit-log <file>', 'where to write what is done')
    .action((options) =>
      perform(options, async (context) => {
        const { tracker } = await import('../commands/tracker.ts');
        const { port, host, hostName: hostNames, type, name, rootpath, hostport } = options;
        const { configFile } = options;
        const choice = { configFile, type, name, rootpath, hostport };
        const { allowActions: isAllowed, tokenFile, auditLog } = options;
        const acting = { isAllowed, tokenFile, auditLog };
        return tracker({ port, host, hostNames, choice, acting }, context);
      }),
    );
}

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('A number from 0 to 65535 is expected.');
}
