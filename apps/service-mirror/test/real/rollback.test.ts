// Real: kubectl runs the commands that users copy, and a controller mirrors Endpoints.
import { eventually } from '@kube-semaphore/eventually';
import { bash, docBlocks, goesWithoutKubectl } from '@kube-semaphore/testkit';
import { describe, expect } from 'vitest';
import { type GoSource, mirrorName } from '../support/go/program.ts';
import { addSources, it } from '../support/migration.ts';
import { mirrorLabels } from '../support/mirror-process.ts';

const sourcesOfAll: readonly GoSource[] = [
  { name: 'web', addresses: ['10.4.0.1', '10.4.0.2'] },
  { name: 'db', headless: true, addresses: ['10.4.0.3'] },
  { name: 'dual', addresses: ['10.4.0.4', 'fd00::4'] },
  { name: 'idle', addresses: [] },
];
/** What the page says to paste: variables, and commands. */
const wayBack = docBlocks('migration.md', 'The way back of mirrors').join('');

const mirrored = Object.fromEntries(sourcesOfAll.map(({ name, addresses }) => [mirrorName(name), addresses]));

describe.skipIf(goesWithoutKubectl)('a rollback to the Go program', () => {
  it('leaves no Service without an endpoint, and no object of ours', async ({
    local,
    sources,
    mirrors,
    history,
    goProgram,
    goStart,
  }) => {
    await addSources(sources, sourcesOfAll);
    await sources.addSlice({ name: 'idle-0', service: 'idle', endpoints: [] });
    const program = await goStart();
    await mirrors.become(mirrored);
    await eventually(async () => (await mirrors.slices()).length, 5);
    await program.stop();
    // The objects of another remote, which stays with us.
    const others = {
      ...mirrorLabels,
      'mirror-svc-prefix-sync': 'c3',
      'kubernetes.io/service-name': 'c3-x',
      'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
    };
    await mirrors.create('endpointslices', {
      metadata: { name: 'c3-x', labels: others },
      addressType: 'IPv4',
      endpoints: [],
      ports: [],
    });

    // The commands wait for the writes of the Go program.
    const commands = bash(wayBack, local);
    await goProgram.sync(sourcesOfAll);
    await commands;
    await mirrors.become({ ...mirrored, 'c3-x': [] });
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
    expect(history.deletions).toEqual([]);
    const managers = (await mirrors.slices()).map(
      ({ metadata }) => metadata.labels?.['endpointslice.kubernetes.io/managed-by'],
    );
    expect(managers.filter((manager) => manager === 'semaphore-service-mirror')).toHaveLength(1);
    // A second run does nothing, and the Go program's objects can be adopted again.
    await bash(wayBack, local);
    await mirrors.remove('endpointslices', 'c3-x');
    await goStart();
    await eventually(() => mirrors.endpointsObjects(), []);
    await mirrors.become(mirrored);
    await history.caughtUp();
    expect(history.gaps).toEqual([]);
  });
});
