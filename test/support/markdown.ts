/* Just enough of Markdown to find what a page shows as code. */

export interface CodeBlock {
  readonly language: string;
  /** Of the first line of code, from 1. */
  readonly line: number;
  readonly code: string;
}

export interface TableRow {
  /** The heading that it stands under. */
  readonly section: string;
  readonly line: number;
  readonly cells: readonly string[];
}

const FENCE = /^```(\w*)$/;

export function codeBlocksOf(text: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open:
    | { readonly language: string; readonly line: number; readonly code: string[] }
    | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const fence = FENCE.exec(line);
    if (fence === null) open?.code.push(line);
    else if (open === undefined) open = { language: fence[1] ?? '', line: index + 2, code: [] };
    else {
      blocks.push({ ...open, code: open.code.join('\n') });
      open = undefined;
    }
  }
  return blocks;
}

/** The rows of all tables, without heads and rules. Code in them has no bar. */
export function tableRowsOf(text: string): readonly TableRow[] {
  const rows: TableRow[] = [];
  let section = '';
  let isBody = false;
  for (const [index, line] of text.split('\n').entries()) {
    section = /^#+ (.*)$/.exec(line)?.[1] ?? section;
    if (!line.startsWith('|')) isBody = false;
    else if (/^[-| ]+$/.test(line)) isBody = true;
    else if (isBody) {
      const cells = line.split('|').slice(1, -1);
      rows.push({ section, line: index + 1, cells: cells.map((cell) => cell.trim()) });
    }
  }
  return rows;
}

/** What stands between single backticks. */
export function inlineCodeOf(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
}
