/*
  Links that a Tracker adds to each topology, by the `extra.links` of heron_tracker.yaml:

    extra.links:
      - name: Logs
        formatter: https://logs.example.net/${CLUSTER}/${ENVIRON}/${TOPOLOGY}
*/

/** As it is configured. */
export interface LinkTemplate {
  readonly name: string;
  readonly formatter: string;
}

/** As it is shown; Heron's names. */
export interface ExtraLink extends LinkTemplate {
  readonly url: string;
}

export interface LinkValues {
  readonly cluster: string;
  readonly environ: string;
  readonly topology: string;
  readonly role: string;
  readonly user: string;
}

/** The variables that a formatter may name. */
export const LINK_VARIABLES = ['CLUSTER', 'ENVIRON', 'TOPOLOGY', 'ROLE', 'USER'] as const;

/**
 * A link with the variables filled in. Values are percent-encoded: they are names that somebody
 * chose, and must not make another link of it.
 */
export function filledLink({ name, formatter }: LinkTemplate, values: LinkValues): ExtraLink {
  const url = formatter.replaceAll(/\$\{(\w+)\}/g, (written, variable: string) => {
    const known = LINK_VARIABLES.find((each) => each === variable);
    return known === undefined ? written : encodeURIComponent(values[lowerCased(known)]);
  });
  return { name, formatter, url };
}

function lowerCased(variable: (typeof LINK_VARIABLES)[number]): keyof LinkValues {
  return variable.toLowerCase() as Lowercase<typeof variable>;
}
