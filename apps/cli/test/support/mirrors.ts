import { type EmbeddedCluster, startEmbeddedCluster } from '@kube-semaphore/embedded-apiserver';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import type { Place } from '@kube-semaphore/testnet';

export const NAMESPACE = 'sys-semaphore';

/** The longest name that a mirror of the namespace `shop` can have, and one more. */
export const LONGEST = 'w'.repeat(48);

const addresses = { web: '10.96.7.1', [LONGEST]: '10.96.7.2' };

/** Prints the addresses of names, or the errors, as JSON. One query doesn't wait for another. */
const script = `
const { Resolver } = require('node:dns').promises;
const resolver = new Resolver({ timeout: 20_000, tries: 1 });
const [server, ...names] = process.argv.slice(1);
resolver.setServers([server]);
const ask = (name) => resolver.resolve4(name).then((found) => found.join(), (error) => error.code);
Promise.all(names.map(ask)).then((all) => console.log(JSON.stringify(all)));
`;

/** The address of each name, or the error. @param server where it asks, from the place */
export async function answersOf(
  place: Place,
  names: readonly string[],
  server = '127.0.0.1',
): Promise<Record<string, string>> {
  const answers = JSON.parse(await place.run(process.execPath, ['-e', script, server, ...names])) as string[];
  return Object.fromEntries(answers.map((answer, i) => [names[i], answer]));
}

/** A cluster with mirrors of c2, global Services, and a Service of a ServiceImport: \`web\`, and some names at the limits. */
export async function startMirrors(): Promise<EmbeddedCluster> {
  const cluster = await startEmbeddedCluster({ name: 'c1' });
  const { admin } = cluster;
  const create = (namespace: string, name: string, clusterIP: string) => {
    const made = service({ namespace, name, selector: null });
    const spec = { ...(made['spec'] as object), clusterIP };
    return admin.create(`/api/v1/namespaces/${namespace}/services`, { ...made, spec });
  };
  await admin.create('/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE, labels: { mirrors: 'yes' } },
  });
  await create('default', 'own', '10.96.7.9');
  await create(NAMESPACE, 'mcs-shop-73736d-web', '10.96.9.1');
  for (const prefix of ['c2', 'gl'])
    for (const [name, clusterIP] of Object.entries({ ...addresses, db: 'None' })) {
      const ip = prefix === 'c2' ? clusterIP : clusterIP.replace('.7.', '.8.');
      await create(NAMESPACE, `${prefix}-shop-73736d-${name}`, ip);
    }
  await admin.create(`/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`, {
    ...endpointSlice({ namespace: NAMESPACE, name: 'db-a', service: 'c2-shop-73736d-db', endpoints: [] }),
    endpoints: [{ addresses: ['10.4.0.1'], hostname: 'db-0', conditions: { ready: true } }],
  });
  return cluster;
}
