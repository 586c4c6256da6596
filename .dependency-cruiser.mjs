/*
  Who may import what in src/. A folder may import itself and the folders that ALLOWED names for it;
  a new folder is refused until it has its line. Whole processes never import each other: they meet
  in messages and in the state manager.
*/

const FOUNDATION = ['base', 'model', 'metrics', 'ring', 'wire'];
const SECOND = [...FOUNDATION, 'net', 'routing', 'packing'];
const THIRD = [
  'state-manager',
  'uploader',
  'supervision',
  'package',
  'metrics-publisher',
  'metrics-store',
  'inspection',
];
const PROCESS = [...SECOND, ...THIRD, 'process-start', 'scheduler', 'api'];

const PROCESSES = [
  'instance',
  'stream-manager',
  'topology-master',
  'metrics-manager',
  'metrics-cache',
  'executor',
];

const ALLOWED = {
  base: [],
  model: ['base'],
  config: ['base', 'model'],
  metrics: ['base'],
  ring: ['base'],
  wire: ['base', 'model'],
  api: ['base', 'model', 'metrics'],

  net: FOUNDATION,
  routing: FOUNDATION,
  packing: FOUNDATION,

  'state-manager': SECOND,
  uploader: SECOND,
  supervision: SECOND,
  'metrics-publisher': SECOND,
  'metrics-store': SECOND,
  inspection: SECOND,
  package: [...SECOND, 'api'],
  // What the processes' main files begin with.
  'process-start': [...SECOND, 'state-manager', 'supervision', 'inspection'],
  // A scheduler places archives and supervises processes, so it stands above the rest of its layer.
  scheduler: [...SECOND, ...THIRD, 'process-start'],

  instance: PROCESS,
  'stream-manager': PROCESS,
  'topology-master': PROCESS,
  'metrics-manager': PROCESS,
  'metrics-cache': PROCESS,
  executor: PROCESS,
  // What asks the ports of a running topology.
  'topology-client': [...SECOND, 'state-manager'],
  tracker: [...PROCESS, 'config', 'topology-client'],
  cli: [...PROCESS, 'config', 'topology-client', 'tracker'],

  // Above all processes: it constructs them on a simulated world.
  simulation: [...PROCESS, ...PROCESSES],
  // The public kit for users' tests, a thin face of the simulation.
  testing: [...PROCESS, ...PROCESSES, 'simulation'],
};

/** Where the platform's own modules may be used; everything that is not named is free. */
const PLATFORM = {
  net: ['net'],
  http: ['net'],
  worker_threads: ['instance', 'ring', 'inspection'],
  tls: ['net'],
  child_process: ['executor', 'scheduler/local', 'supervision', 'package', 'cli'],
  inspector: ['inspection'],
};

/** Implementations behind a port, which only its `create.ts` and the simulator choose. */
const IMPLEMENTATIONS = [
  'state-manager/(file|memory|zookeeper)',
  'uploader/file',
  'scheduler/local',
];

const src = (folders) => `^src/(${folders.join('|')})/`;

const layers = Object.entries(ALLOWED).map(([folder, allowed]) => ({
  name: `layer-of-${folder}`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  to: { path: '^src/', pathNot: src([folder, ...allowed]) },
}));

const platform = Object.entries(PLATFORM).map(([module, folders]) => ({
  name: `place-of-node-${module}`,
  severity: 'error',
  from: { path: '^src/', pathNot: src(folders) },
  to: { dependencyTypes: ['core'], path: `^(node:)?${module}(/|$)` },
}));

const implementations = IMPLEMENTATIONS.map((folder) => ({
  name: `only-create-imports-${folder.replace(/\W+/g, '-')}`,
  severity: 'error',
  from: {
    path: '^src/',
    pathNot: `^src/(${folder}/|simulation/|${folder.split('/')[0]}/create\\.ts$)`,
  },
  to: { path: `^src/${folder}/` },
}));

export default {
  forbidden: [
    ...layers,
    ...platform,
    ...implementations,
    {
      name: 'folder-without-a-layer',
      severity: 'error',
      from: { path: '^src/', pathNot: src(Object.keys(ALLOWED)) },
      to: {},
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.d.ts'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
