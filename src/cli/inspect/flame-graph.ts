import { escapeHtml } from '../../base/escape-html.ts';
import { type Call, isIdle } from './call-tree.ts';

/*
  A flame graph as one HTML page without scripts and without anything from elsewhere: a box for each
  call, as wide as its share of the time, above its caller's. Pure.

      y = depth      ┌ inner ┐
                     ├ outer ───────┐┌ other ┐
                     └ all ─────────────────────── x = time
*/

const WIDTH = 1_200;
const ROW = 17;
/** Narrower boxes cannot be seen, and there may be tens of thousands of them. */
const BOX_MIN = 0.4;
const CHARACTER = 6.6;

interface Box {
  readonly call: Call;
  readonly x: number;
  readonly width: number;
  readonly depth: number;
}

export function flameGraph(root: Call, title: string): string {
  // The time in which nothing ran would make everything else narrow.
  const calls = root.calls.filter(({ name }) => !isIdle(name));
  const totalMs = calls.reduce((sum, call) => sum + call.totalMs, 0);
  const all: Call = { name: 'all', place: '', selfMs: 0, totalMs, calls };
  const boxes = totalMs === 0 ? [] : boxesOf(all, totalMs);
  const depthMax = boxes.reduce((max, { depth }) => Math.max(max, depth), 0);
  const height = (depthMax + 1) * ROW;
  const shapes = boxes.map((box) => shapeOf(box, { height, totalMs })).join('\n');
  const heading = escapeHtml(`${title}: ${totalMs.toFixed(0)} ms of work`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${heading}</title>
<style>body{font:14px sans-serif;margin:16px}text{font:11px monospace;pointer-events:none}
rect:hover{stroke:#000}</style></head>
<body><h1>${heading}</h1>
<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}">
${shapes}
</svg></body></html>
`;
}

function boxesOf(root: Call, totalMs: number): readonly Box[] {
  const boxes: Box[] = [];
  const add = (call: Call, x: number, depth: number): void => {
    const width = (call.totalMs / totalMs) * WIDTH;
    if (width < BOX_MIN) return;
    boxes.push({ call, x, width, depth });
    let at = x;
    for (const inner of call.calls) {
      add(inner, at, depth + 1);
      at += (inner.totalMs / totalMs) * WIDTH;
    }
  };
  add(root, 0, 0);
  return boxes;
}

function labelOf({ call, x, width }: Box, y: number): string {
  const letters = Math.floor((width - 4) / CHARACTER);
  if (letters < 3) return '';
  const text = escapeHtml(cut(call.name, letters));
  return `<text x="${(x + 2).toFixed(1)}" y="${y + 12}">${text}</text>`;
}

function shapeOf(
  box: Box,
  { height, totalMs }: { readonly height: number; readonly totalMs: number },
): string {
  const { call, x, width, depth } = box;
  const { name, place, totalMs: ms, selfMs } = call;
  const y = height - (depth + 1) * ROW;
  const share = ((ms / totalMs) * 100).toFixed(1);
  const hint = `${name} ${place}\n${ms.toFixed(1)} ms (${share} %), itself ${selfMs.toFixed(1)} ms`;
  const title = `<title>${escapeHtml(hint)}</title>`;
  return (
    `<g><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(width - 0.5, 0.2).toFixed(1)}" ` +
    `height="${ROW - 1}" fill="${colourOf(name)}">${title}</rect>${labelOf(box, y)}</g>`
  );
}

/** Warm, and the same for the same name. */
function colourOf(name: string): string {
  let hash = 0;
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 997;
  return `hsl(${10 + (hash % 45)},80%,${60 + (hash % 15)}%)`;
}

function cut(text: string, letters: number): string {
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}
