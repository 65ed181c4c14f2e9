import { fileURLToPath } from 'node:url';
import { findBinaries } from '@kube-semaphore/testkit';
import packageJson from '../../package.json' with { type: 'json' };
import { help, readReleaseOptions } from './command-line.ts';
import { makeRelease } from './release.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
const out = fileURLToPath(new URL('../../../../dist/release', import.meta.url));

try {
  const options = readReleaseOptions(process.argv.slice(2), packageJson);
  if (options === undefined) process.stdout.write(help);
  else {
    const binaries = findBinaries(['helm', 'kubectl']);
    if (!binaries.ok) throw new Error(binaries.reason);
    const pushed = await makeRelease(options, { root, out, ...binaries.paths });
    for (const chart of pushed) console.log(chart);
  }
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
