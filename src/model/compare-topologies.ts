import type {
  Component,
  ConfigMap,
  DeclaredTopology,
  Grouping,
  InputStream,
  OutputStream,
} from './logical-topology.ts';

/**
 * In what a topology differs from the one that was stored, one sentence each; empty when they are
 * the same. An instance asks before it runs: a module that describes another topology than at
 * submit (it read a clock, a file, the environment) must not run with the old one's plan. The order
 * of settings does not count; that of components, streams and inputs does.
 */
export function differences(
  stored: DeclaredTopology,
  rebuilt: DeclaredTopology,
): readonly string[] {
  return [
    ...changed('name', stored.name, rebuilt.name),
    ...configDifferences('', stored.config, rebuilt.config),
    ...componentDifferences(stored.components, rebuilt.components),
  ];
}

function componentDifferences(
  stored: readonly Component[],
  rebuilt: readonly Component[],
): readonly string[] {
  const before = new Map(stored.map((component) => [component.name, component]));
  const after = new Map(rebuilt.map((component) => [component.name, component]));
  const gone = [...before.keys()].filter((name) => !after.has(name));
  const added = [...after.keys()].filter((name) => !before.has(name));
  const found = [
    ...gone.map((name) => `component '${name}' is missing`),
    ...added.map((name) => `component '${name}' is new`),
    ...stored.flatMap((component) => {
      const other = after.get(component.name);
      return other === undefined ? [] : differencesOf(component, other);
    }),
  ];
  if (found.length > 0) return found;
  return changed('order of components', namesOf(stored), namesOf(rebuilt));
}

function differencesOf(stored: Component, rebuilt: Component): readonly string[] {
  const where = `component '${stored.name}': `;
  return [
    ...changed(`${where}kind`, stored.kind, rebuilt.kind),
    ...changed(`${where}language`, stored.language, rebuilt.language),
    ...changed(`${where}class`, stored.className, rebuilt.className),
    ...changed(`${where}parallelism`, String(stored.parallelism), String(rebuilt.parallelism)),
    ...changed(`${where}streams`, outputsOf(stored), outputsOf(rebuilt)),
    ...changed(`${where}inputs`, inputsOf(stored), inputsOf(rebuilt)),
    ...configDifferences(where, stored.config, rebuilt.config),
  ];
}

function configDifferences(
  where: string,
  stored: ConfigMap,
  rebuilt: ConfigMap,
): readonly string[] {
  const keys = [...new Set([...stored.keys(), ...rebuilt.keys()])].toSorted();
  return keys.flatMap((key) => changed(`${where}${key}`, stored.get(key), rebuilt.get(key)));
}

function changed(
  what: string,
  stored: string | undefined,
  rebuilt: string | undefined,
): readonly string[] {
  return stored === rebuilt ? [] : [`${what} was ${shown(stored)}, is ${shown(rebuilt)}`];
}

function shown(value: string | undefined): string {
  return value === undefined ? 'absent' : `'${value}'`;
}

function namesOf(components: readonly Component[]): string {
  return components.map(({ name }) => name).join(', ');
}

function outputsOf({ outputs }: Component): string {
  return outputs
    .map(({ stream, fields }: OutputStream) => `${stream}(${fields.join(', ')})`)
    .join(', ');
}

function inputsOf(component: Component): string {
  return component.kind === 'spout' ? '' : component.inputs.map(inputText).join(', ');
}

function inputText({ component, stream, grouping }: InputStream): string {
  return `${groupingText(grouping)} of ${component}.${stream}`;
}

function groupingText(grouping: Grouping): string {
  return grouping.kind === 'fields' ? `fields(${grouping.fields.join(', ')})` : grouping.kind;
}
