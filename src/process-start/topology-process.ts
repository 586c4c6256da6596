import { join } from 'node:path';
import { beatPeriodMs } from '../base/beat.ts';
import type { ProcessContext } from '../base/process-main.ts';
import { BYTES_PER_MB } from '../base/units.ts';
import { logLevelOf } from '../model/log-level.ts';
import type { LogicalTopology } from '../model/logical-topology.ts';
import { Settings } from '../model/settings.ts';
import type { StateAddress } from '../state-manager/state-address.ts';
import { decodeTopology } from '../wire/topology.ts';
import type { ProcessEnvironment } from './process-environment.ts';
import { openSurroundings, type Surroundings } from './surroundings.ts';

export interface TopologyProcessOptions {
  readonly definitionFile: string;
  readonly logDirectory: string;
  readonly state: StateAddress;
  /** The log file's name, without its ending. */
  readonly logName: string;
  /** Who speaks in the log. */
  readonly name: string;
}

/** A process of a container: it knows its topology's definition and settings from the start. */
export interface TopologyProcess extends Surroundings {
  /** The definition as it stands in the container's folder. */
  readonly definition: Uint8Array;
  readonly topology: LogicalTopology;
  readonly settings: Settings;
}

/** @throws what reading the definition throws: without it there is no log to write to. */
export async function openTopologyProcess(
  context: ProcessContext,
  environment: ProcessEnvironment,
  { definitionFile, logDirectory, state, logName, name }: TopologyProcessOptions,
): Promise<TopologyProcess> {
  const definition = await environment.files.read(definitionFile);
  const topology = decodeTopology(definition);
  const settings = new Settings(topology.config);
  environment.startBeating(beatPeriodMs(settings.get('heron.executor.child.silence.ms')));
  environment.answerParent();
  context.setGrace(settings.get('heron.shutdown.grace.ms'));
  const surroundings = openSurroundings(context, environment, {
    logFile: join(logDirectory, `${logName}.log`),
    logLevel: logLevelOf(topology),
    name,
    logBytesMax: settings.get('heron.logging.maximum.size.mb') * BYTES_PER_MB,
    logFilesMax: settings.get('heron.logging.maximum.files'),
    state,
  });
  return { ...surroundings, definition, topology, settings };
}
