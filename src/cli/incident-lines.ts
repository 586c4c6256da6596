import type { Completion, Incident } from '../model/completion.ts';

/** What a record of a completion names, for people: losses first, under a line that ends in `:`. */
export function incidentLines({ incidents, recovered }: Completion): readonly string[] {
  return [
    ...incidents.map(incidentLine),
    ...(recovered.length === 0
      ? []
      : ['all tuples came again after these deaths; what a bolt kept in memory did not:']),
    ...recovered.map(incidentLine),
  ];
}

function incidentLine({ container, process, reason }: Incident): string {
  return `  container ${container}: ${process} ${reason}`;
}
