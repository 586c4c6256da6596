/*
  The rules of style that no other tool checks. Each rule is a function from a file to complaints;
  generated files and golden bytes are left out.
*/

import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import ts from 'typescript';
import { root } from './tools.ts';

const FILE_LINES_MAX = 400;
const FUNCTION_LINES_MAX = 60;
const LINE_CHARACTERS_MAX = 100;

/** Each word has a letter in brackets, so that this file keeps its own rule. */
const MARKER = /\b(?:TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b/;
const VAGUE_NAME = /^(?:utils?|helpers?|common|misc|types)\./;

interface SourceFile {
  /** Relative to the repository. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
}

type Rule = (file: SourceFile) => readonly string[];

const isTest = (path: string): boolean => path.startsWith('test/');

const fileLength: Rule = ({ path, lines }) =>
  lines.length > FILE_LINES_MAX
    ? [`${path}: ${lines.length} lines; at most ${FILE_LINES_MAX}`]
    : [];

/** A line with an address is as long as the address. */
const lineLength: Rule = ({ path, lines }) =>
  lines.flatMap((line, index) =>
    line.length > LINE_CHARACTERS_MAX && !line.includes('://')
      ? [`${path}:${index + 1}: ${line.length} characters; at most ${LINE_CHARACTERS_MAX}`]
      : [],
  );

const markers: Rule = ({ path, lines }) =>
  lines.flatMap((line, index) => {
    const marker = MARKER.exec(line)?.[0];
    return marker === undefined ? [] : [`${path}:${index + 1}: ${marker}; do it or file an issue`];
  });

const names: Rule = ({ path }) => {
  const name = basename(path);
  if (VAGUE_NAME.test(name)) return [`${path}: the name says nothing about what is inside`];
  if (!/^[a-z0-9.-]+$/.test(name)) return [`${path}: file names are kebab-case`];
  return [];
};

const functionLength: Rule = ({ path, text }) => {
  if (isTest(path)) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const complaints: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const lines = source.getLineAndCharacterOfPosition(node.end).line - first + 1;
      const where = `${path}:${first + 1}`;
      if (lines > FUNCTION_LINES_MAX) {
        complaints.push(`${where}: a function of ${lines} lines; at most ${FUNCTION_LINES_MAX}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return complaints;
};

/** test/unit/net/client.test.ts is about src/net/client.ts. */
const mirror: Rule = ({ path }) => {
  const subject = /^test\/unit\/(.+)\.test\.ts$/.exec(path)?.[1];
  if (subject === undefined || existsSync(join(root, 'src', `${subject}.ts`))) return [];
  return [`${path}: there is no src/${subject}.ts that it could be about`];
};

const RULES = [fileLength, lineLength, markers, names, functionLength, mirror];

/** The lockfile serves every registry, so it names none. */
function lockfileHosts(): readonly string[] {
  const lockfile = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const hosts = lockfile.match(/"resolved": "\w+:\/\/[^"]*"/g) ?? [];
  return hosts.map((host) => `package-lock.json: ${host}`);
}

const paths = globSync('{src,test,scripts,bin,bench,examples,templates,create}/**/*.{ts,mjs}', {
  cwd: root,
  exclude: ['**/generated/**', '**/golden/**', '**/node_modules/**'],
});
const complaints = paths
  .toSorted()
  .map((path): SourceFile => {
    const text = readFileSync(join(root, path), 'utf8');
    return { path, text, lines: text.trimEnd().split('\n') };
  })
  .flatMap((file) => RULES.flatMap((rule) => rule(file)))
  .concat(lockfileHosts());

process.stdout.write(complaints.map((complaint) => `${complaint}\n`).join(''));
process.exitCode = complaints.length === 0 ? 0 : 1;
