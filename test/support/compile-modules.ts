import { dirname, join } from 'node:path';
import ts from 'typescript';
import { packageRoot } from '../../src/base/entry.ts';

/** One complaint of the compiler about a module that exists in memory. */
export interface CompilerComplaint {
  readonly path: string;
  /** From 1; 0 when it is about no place. */
  readonly line: number;
  readonly text: string;
}

/**
 * Compiles modules that are not on the disk, by their absolute paths, with the repository's own
 * settings. Names that are left over are allowed: these are excerpts.
 */
export function compileModules(modules: ReadonlyMap<string, string>): readonly CompilerComplaint[] {
  const options = { ...repositoryOptions(), noUnusedLocals: false, noUnusedParameters: false };
  const host = hostOver(modules, { ...options, moduleDetection: ts.ModuleDetectionKind.Force });
  const program = ts.createProgram({ rootNames: [...modules.keys()], options, host });
  const sources = [...modules.keys()].flatMap((path) => program.getSourceFile(path) ?? []);
  const diagnostics = sources.flatMap((source) => [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ]);
  return diagnostics.map((diagnostic) => {
    const { file, start = 0, messageText } = diagnostic;
    return {
      path: file?.fileName ?? '',
      line: file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1,
      text: ts.flattenDiagnosticMessageText(messageText, '\n'),
    };
  });
}

function repositoryOptions(): ts.CompilerOptions {
  const file = join(packageRoot(), 'tsconfig.json');
  const { config } = ts.readConfigFile(file, (path) => ts.sys.readFile(path)) as {
    readonly config: { readonly compilerOptions: object };
  };
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, packageRoot());
  return options;
}

function hostOver(modules: ReadonlyMap<string, string>, options: ts.CompilerOptions) {
  const folders = new Set([...modules.keys()].map((path) => dirname(path)));
  const real = ts.createCompilerHost(options, true);
  const host: ts.CompilerHost = {
    ...real,
    fileExists: (path) => modules.has(path) || real.fileExists(path),
    readFile: (path) => modules.get(path) ?? real.readFile(path),
    directoryExists: (path) => folders.has(path) || real.directoryExists?.(path) === true,
    getSourceFile: (path, languageVersion, ...rest) => {
      const text = modules.get(path);
      return text === undefined
        ? real.getSourceFile(path, languageVersion, ...rest)
        : ts.createSourceFile(path, text, languageVersion, true);
    },
  };
  return host;
}
