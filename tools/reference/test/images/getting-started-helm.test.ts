import { type Registry, startRegistry } from '@kube-semaphore/testkit';
import { expect } from 'vitest';
import { it as base } from '../support/it.ts';
import { commandsIn } from '../support/pages.ts';

const page = 'getting-started.md';

/** Its nodes get the images from this registry. */
const it = base.extend('registry', { scope: 'file' }, async ({ crds: _crds }, { onCleanup }): Promise<Registry> => {
  const registry = await startRegistry();
  onCleanup(() => registry.stop());
  return registry;
});

/** Types commands of the page with another port, and prints how long it took. */
async function typeHere(
  commands: string,
  { registry, type }: { registry: Registry | undefined; type: (commands: string) => Promise<{ stdout: string }> },
): Promise<string> {
  const startMs = performance.now();
  const { stdout } = await type(commands.replaceAll('localhost:5000', registry!.host));
  console.log(`typed in ${Math.round((performance.now() - startMs) / 1_000)} s`);
  return stdout;
}

it('leads by Helm from a registry to a mirrored Service with a policy on it', async ({ registry, type }) => {
  const [release = '', ...others] = commandsIn(page, ['The link, by Helm']).split(/^(?=npx)/m);
  await typeHere(release, { registry, type });

  // The kernel may have no WireGuard.
  const link = others.join('').replace('--helm', '--helm --userspace');
  const linked = await typeHere(link, { registry, type });
  expect(linked).toMatch(/^✓ handshakes$/m);
  for (const by of ['pod IPv4', 'service', 'name']) expect(linked).toMatch(new RegExp(`^c1 +c2 +${by} +✓ +✓ `, 'm'));

  const called = await typeHere(commandsIn(page, ['A Service of the other cluster', 'A policy on it']), {
    registry,
    type,
  });
  expect(called).toMatch(/cidr: 10\.2\.0\.\d+\/32\n/);
});

it('runs only images of the registry, by the digests that the manifests of the release name', async ({
  registry,
  type,
}) => {
  const { stdout: manifests } = await type(
    `cat '${process.cwd()}'/dist/release/semaphore-{policy,service-mirror,wireguard}.yaml`,
  );
  const released = new Set(Array.from(manifests.matchAll(/image: (\S+@\S+)/g), ([, image]) => image));
  expect(released.size).toBe(3);
  for (const context of ['c1', 'c2']) {
    const pods = `kubectl --context ${context} get pods -A -l app.kubernetes.io/part-of=kube-semaphore`;
    const { stdout } = await type(`${pods} -o jsonpath='{.items[*].status.containerStatuses[*].imageID}'`);
    expect(new Set(stdout.split(' '))).toEqual(released);
  }
  expect([...released][0]).toContain(`${registry!.host}/semaphore/`);
});
