import { createHash } from 'node:crypto';
import { escapeHtml } from '../base/escape-html.ts';

/* The OpenAPI document as a page for people: one text, no script, nothing from elsewhere. */

/** As much of the document as is shown. */
export interface ShownDocument {
  readonly info: { readonly title: string; readonly version: string };
  readonly paths?: object | undefined;
}

type ShownPath = Readonly<Record<string, unknown>>;

interface ShownOperation {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly { readonly name?: string; readonly required?: boolean }[];
}

const METHODS = ['get', 'post', 'delete'] as const;

const STYLE = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid #8884; padding: 0.4rem 0.8rem 0.4rem 0; vertical-align: top; }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
small { opacity: 0.75; }
`;

const STYLE_DIGEST = createHash('sha256').update(STYLE).digest('base64');

/** What the page may load: its own style, known by its digest. */
export const DOCS_POLICY = [
  "default-src 'none'",
  "frame-ancestors 'none'",
  `style-src 'sha256-${STYLE_DIGEST}'`,
].join('; ');

export function docsPage(document: ShownDocument): string {
  const { title, version } = document.info;
  const byTag = Map.groupBy(operationsOf(document), ({ tag }) => tag);
  const sections = Array.from(
    byTag,
    ([tag, rows]) => `<h2>${escapeHtml(tag)}</h2>\n<table>${rows.map(rowOf).join('')}</table>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeHtml(title)} <small>${escapeHtml(version)}</small></h1>
<p>The same for programs: <a href="/openapi.json">/openapi.json</a>.</p>
${sections.join('\n')}
</html>
`;
}

interface Row extends ShownOperation {
  readonly tag: string;
  readonly method: string;
  readonly path: string;
}

function operationsOf({ paths = {} }: ShownDocument): readonly Row[] {
  const all = Object.entries(paths as Readonly<Record<string, ShownPath>>);
  return all.flatMap(([path, operations]) =>
    METHODS.flatMap((method) => {
      const operation = operations[method] as ShownOperation | undefined;
      if (operation === undefined) return [];
      return [{ ...operation, method: method.toUpperCase(), path, tag: operation.tags?.[0] ?? '' }];
    }),
  );
}

function rowOf({ method, path, summary = '', parameters = [] }: Row): string {
  const names = parameters.map(
    ({ name = '', required }) => `${escapeHtml(name)}${required === true ? '' : '?'}`,
  );
  const query = names.length === 0 ? '' : `<br><small>${names.join(', ')}</small>`;
  const name = `<code>${method} ${escapeHtml(path)}</code>`;
  return `<tr><td>${name}${query}</td><td>${escapeHtml(summary)}</td></tr>`;
}
