/* npm run pack: the package as it would be published, in the repository's folder. */

import { pack } from './package-staging.ts';
import { root } from './tools.ts';

process.stdout.write(`${await pack(root)}\n`);
