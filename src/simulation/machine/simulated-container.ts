import type { Files } from '../../base/files.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { readIfThere } from '../../base/optional-files.ts';
import type { SetUpContainer } from '../../scheduler/local/container-setup.ts';
import { definitionFile, logFolder } from '../../scheduler/local/working-folder.ts';

/**
 * Makes a container's folder on a simulated disk. A simulated archive is the topology's definition
 * and nothing else: the user's code is in memory, and the engine is this one.
 */
export function simulatedContainerSetup(files: Files): SetUpContainer {
  return async ({ folder, topologyName, archive, archives }) => {
    const definition = definitionFile(folder, topologyName);
    if ((await readIfThere(files, definition)) !== undefined) return;
    await makeFolder(files, logFolder(folder));
    await archives.fetch(archive, definition); // Last: a folder with this file in it is complete.
  };
}
