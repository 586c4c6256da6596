/*
  Keeps `npm pack` and `npm publish` from making a package of the sources, which Node does not run
  below node_modules. Plain JavaScript, like run.mjs.
*/

import process from 'node:process';
import { refuse } from '../bin/find-node.mjs';

// npm calls `prepack` before `npm run pack` too, by the name; npm 11 says `run` for `run-script`.
if (!['run', 'run-script'].includes(process.env.npm_command ?? '')) {
  refuse(
    "use 'npm run pack', which makes the package: compiled, and without the repository's tools",
  );
}
